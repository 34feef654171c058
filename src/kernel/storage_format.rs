//! The format of a tensor's elements in shaders.

use crate::caps::Caps;
use crate::layout::DType;

/// The number of consecutive elements that one access loads or stores. The index of the first is a multiple of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessWidth {
    One,
    Two,
    Four,
}

/// The format of the elements of a type in a device's shaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StorageFormat {
    F32,
    F16,
    /// Pairs of f16 in a u32, on devices without f16 in shaders.
    PackedF16,
    /// Pairs of bf16 in a u32: WGSL has no bf16.
    Bf16,
    /// Four i8 in a u32: WGSL has no i8.
    I8,
    I32,
    /// Four floating-point numbers of 8 bits in a u32. Kernels load them; only casts and copies, which work on words, store them.
    E4m3,
    E5m2,
}

impl StorageFormat {
    /// The format of a type on a device.
    pub(crate) fn of(dtype: DType, caps: &Caps) -> Self {
        match dtype {
            DType::F32 => Self::F32,
            DType::F16 if caps.f16 => Self::F16,
            DType::F16 => Self::PackedF16,
            DType::Bf16 => Self::Bf16,
            DType::I8 => Self::I8,
            DType::I32 => Self::I32,
            DType::F8E4M3 => Self::E4m3,
            DType::F8E5M2 => Self::E5m2,
        }
    }

    /// The number of elements in one [`scalar`](Self::scalar).
    pub(crate) fn elements_per_scalar(self) -> u32 {
        match self {
            Self::F32 | Self::F16 | Self::I32 => 1,
            Self::PackedF16 | Self::Bf16 => 2,
            Self::I8 | Self::E4m3 | Self::E5m2 => 4,
        }
    }

    /// The smallest WGSL type that holds an element. For packed formats it holds two or four.
    pub(crate) fn scalar(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::PackedF16 | Self::Bf16 | Self::I8 | Self::E4m3 | Self::E5m2 => "u32",
            Self::I32 => "i32",
        }
    }

    /// The WGSL type that holds four elements.
    pub(crate) fn vector(self) -> &'static str {
        match self {
            Self::F32 => "vec4<f32>",
            Self::F16 => "vec4<f16>",
            Self::PackedF16 | Self::Bf16 => "vec2<u32>",
            Self::I8 | Self::E4m3 | Self::E5m2 => "u32",
            Self::I32 => "vec4<i32>",
        }
    }

    /// The smallest WGSL type that holds this number of elements. For packed formats it may hold more.
    pub(crate) fn unit(self, width: AccessWidth) -> &'static str {
        match (width, self) {
            (AccessWidth::One, _)
            | (AccessWidth::Two, Self::PackedF16 | Self::Bf16 | Self::I8 | Self::E4m3 | Self::E5m2) => {
                self.scalar()
            }
            (AccessWidth::Two, Self::F32) => "vec2<f32>",
            (AccessWidth::Two, Self::F16) => "vec2<f16>",
            (AccessWidth::Two, Self::I32) => "vec2<i32>",
            (AccessWidth::Four, _) => self.vector(),
        }
    }
}
