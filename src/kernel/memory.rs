//! How elements lie in memory, as shaders see it.

use crate::caps::Caps;
use crate::layout::DType;

/// Elements that are loaded or stored at once, side by side; of more than one, from a multiple of their number on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    One,
    Two,
    Four,
}

/// How elements of a type lie in memory, as a device's shaders see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    F32,
    F16,
    /// f16 in pairs, where shaders know no f16.
    Packed,
    /// bf16 in pairs: no shader knows it.
    Bf16,
    /// i8 in fours: no shader knows it.
    I8,
    I32,
}

impl Memory {
    pub(crate) fn of(dtype: DType, caps: &Caps) -> Self {
        match dtype {
            DType::F32 => Self::F32,
            DType::F16 if caps.f16 => Self::F16,
            DType::F16 => Self::Packed,
            DType::Bf16 => Self::Bf16,
            DType::I8 => Self::I8,
            DType::I32 => Self::I32,
        }
    }

    /// Elements that one [`scalar`](Self::scalar) holds.
    pub(crate) fn per_scalar(self) -> u32 {
        match self {
            Self::F32 | Self::F16 | Self::I32 => 1,
            Self::Packed | Self::Bf16 => 2,
            Self::I8 => 4,
        }
    }

    /// What holds one element; of pairs, two; of fours, four.
    pub(crate) fn scalar(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Packed | Self::Bf16 | Self::I8 => "u32",
            Self::I32 => "i32",
        }
    }

    /// What holds four elements.
    pub(crate) fn vector(self) -> &'static str {
        match self {
            Self::F32 => "vec4<f32>",
            Self::F16 => "vec4<f16>",
            Self::Packed | Self::Bf16 => "vec2<u32>",
            Self::I8 => "u32",
            Self::I32 => "vec4<i32>",
        }
    }

    /// What holds so many elements side by side; of pairs, what holds one holds two.
    pub(crate) fn unit(self, width: Width) -> &'static str {
        match (width, self) {
            (Width::One, _) | (Width::Two, Self::Packed | Self::Bf16 | Self::I8) => self.scalar(),
            (Width::Two, Self::F32) => "vec2<f32>",
            (Width::Two, Self::F16) => "vec2<f16>",
            (Width::Two, Self::I32) => "vec2<i32>",
            (Width::Four, _) => self.vector(),
        }
    }
}
