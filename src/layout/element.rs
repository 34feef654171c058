//! The element types of tensors.

use half::{bf16, f16};
use std::fmt;

/// A scalar that tensors can hold: `f32`, [`struct@f16`], [`struct@bf16`], `i8` or `i32`.
pub trait Element: bytemuck::Pod + fmt::Debug + PartialOrd + Send + Sync + sealed::Sealed {
    /// The element type as a value.
    const DTYPE: DType;

    /// Converts to f64, exactly.
    fn to_f64(self) -> f64;

    /// Converts from f64, rounded to the nearest value of this type; integers saturate.
    fn from_f64(value: f64) -> Self;
}

/// A type of matrices that can be multiplied: every [`Real`] type, and `i8`.
pub trait Operand: Element {
    /// The type of the accumulator, and of the product by default.
    type Sum: Element;
}

/// A type of elements that can be summed: every [`Real`] type, `i8` and `i32`.
pub trait Summand: Element {
    /// The type of sums: the type of the elements, except that sums of `i8` are `i32`.
    type Total: Element;
}

/// A floating-point type: `f32`, [`struct@f16`] or [`struct@bf16`]. Arithmetic on any of them is in f32.
pub trait Real: Operand<Sum = f32> + Summand<Total = Self> {}

/// The type of a tensor's elements, as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DType {
    /// IEEE 754 single precision.
    F32,
    /// IEEE 754 half precision.
    F16,
    /// The upper 16 bits of an f32: the same range, with 8 significant bits.
    Bf16,
    /// 8-bit signed integers.
    I8,
    /// 32-bit signed integers.
    I32,
}

impl DType {
    /// Every element type.
    pub const ALL: [Self; 5] = [Self::F32, Self::F16, Self::Bf16, Self::I8, Self::I32];

    /// Size of one element in bytes.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::F32 | Self::I32 => 4,
            Self::F16 | Self::Bf16 => 2,
            Self::I8 => 1,
        }
    }

    /// Whether this is a floating-point type.
    #[must_use]
    pub const fn is_real(self) -> bool {
        matches!(self, Self::F32 | Self::F16 | Self::Bf16)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::I8 => "i8",
            Self::I32 => "i32",
        })
    }
}

impl Element for f32 {
    const DTYPE: DType = DType::F32;

    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    #[expect(clippy::cast_possible_truncation, reason = "rounding to the nearest is the contract")]
    fn from_f64(value: f64) -> Self {
        value as f32
    }
}

impl Element for f16 {
    const DTYPE: DType = DType::F16;

    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    fn from_f64(value: f64) -> Self {
        f16::from_f64(value)
    }
}

impl Element for bf16 {
    const DTYPE: DType = DType::Bf16;

    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    fn from_f64(value: f64) -> Self {
        bf16::from_f64(value)
    }
}

impl Element for i8 {
    const DTYPE: DType = DType::I8;

    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    #[expect(clippy::cast_possible_truncation, reason = "saturation is the contract")]
    fn from_f64(value: f64) -> Self {
        value.round_ties_even() as i8
    }
}

impl Element for i32 {
    const DTYPE: DType = DType::I32;

    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    #[expect(clippy::cast_possible_truncation, reason = "saturation is the contract")]
    fn from_f64(value: f64) -> Self {
        value.round_ties_even() as i32
    }
}

impl Operand for f32 {
    type Sum = f32;
}

impl Operand for f16 {
    type Sum = f32;
}

impl Operand for bf16 {
    type Sum = f32;
}

impl Operand for i8 {
    type Sum = i32;
}

impl Summand for f32 {
    type Total = f32;
}

impl Summand for f16 {
    type Total = f16;
}

impl Summand for bf16 {
    type Total = bf16;
}

impl Summand for i8 {
    type Total = i32;
}

impl Summand for i32 {
    type Total = i32;
}

impl Real for f32 {}
impl Real for f16 {}
impl Real for bf16 {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for half::f16 {}
    impl Sealed for half::bf16 {}
    impl Sealed for i8 {}
    impl Sealed for i32 {}
}
