//! The element types of tensors.

use super::nearest::{BF16, F16, nearest_bits};
use crate::{Error, Result};
use half::{bf16, f16};
use std::fmt;

/// A scalar that tensors can hold: `f32`, [`struct@f16`], [`struct@bf16`], `i8`, `i32`, [`F8E4M3`](crate::F8E4M3) or
/// [`F8E5M2`](crate::F8E5M2). The last two are only stored, moved, cast and multiplied. Other operations that compute with
/// their operands return [`Error::Input`] for these two.
pub trait Element: bytemuck::Pod + fmt::Debug + PartialOrd + Send + Sync + sealed::Sealed {
    /// The element type as a value.
    const DTYPE: DType;

    /// Converts to f64, exactly.
    fn to_f64(self) -> f64;

    /// Converts from f64, rounded to the nearest value of this type; integers saturate.
    fn from_f64(value: f64) -> Self;
}

/// A type of matrices that can be multiplied: every [`Float`] type, and `i8`.
pub trait Operand: Element {
    /// The type of the accumulator, and of the product by default.
    type Sum: Element;
}

/// A type of elements that can be summed: every [`Real`] type, `i8` and `i32`.
pub trait Summand: Element {
    /// The type of sums: the type of the elements, except that sums of `i8` are `i32`.
    type Total: Element;
}

/// A floating-point type, whose products are summed in f32: every [`Real`] type, [`F8E4M3`](crate::F8E4M3) and
/// [`F8E5M2`](crate::F8E5M2).
pub trait Float: Operand<Sum = f32> {}

/// A type of 8 bits whose products take scales: `i8`, [`F8E4M3`](crate::F8E4M3) or [`F8E5M2`](crate::F8E5M2).
pub trait Quantised: Operand {}

/// A floating-point type that operations compute with: `f32`, [`struct@f16`] or [`struct@bf16`]. Arithmetic on any of them is in
/// f32.
pub trait Real: Float + Summand<Total = Self> {}

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
    /// 8-bit floating-point numbers of 4 significant bits: [`F8E4M3`](crate::F8E4M3).
    F8E4M3,
    /// 8-bit floating-point numbers of 3 significant bits: [`F8E5M2`](crate::F8E5M2).
    F8E5M2,
}

impl DType {
    /// Every element type.
    pub const ALL: [Self; 7] =
        [Self::F32, Self::F16, Self::Bf16, Self::I8, Self::I32, Self::F8E4M3, Self::F8E5M2];

    /// Size of one element in bytes.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::F32 | Self::I32 => 4,
            Self::F16 | Self::Bf16 => 2,
            Self::I8 | Self::F8E4M3 | Self::F8E5M2 => 1,
        }
    }

    /// Whether this is a floating-point type.
    #[must_use]
    pub const fn is_float(self) -> bool {
        self.is_real() || self.is_fp8()
    }

    /// Whether this is a [`Real`] type: a floating-point type that operations compute with.
    #[must_use]
    pub const fn is_real(self) -> bool {
        matches!(self, Self::F32 | Self::F16 | Self::Bf16)
    }

    /// Whether this is a floating-point type of 8 bits. Its elements are only stored, moved, cast and multiplied.
    #[must_use]
    pub const fn is_fp8(self) -> bool {
        matches!(self, Self::F8E4M3 | Self::F8E5M2)
    }

    /// Checks that the operation computes with elements of this type.
    ///
    /// # Errors
    /// [`Error::Input`] for floating-point types of 8 bits.
    pub(crate) fn check_computed(self, op: &str) -> Result<()> {
        if self.is_fp8() {
            let why = format!("it does not compute with {self}: `cast` the tensor first, for example to f32");
            return Err(Error::input(format!("{op}: the elements"), why));
        }
        Ok(())
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
            Self::F8E4M3 => "e4m3",
            Self::F8E5M2 => "e5m2",
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
        Self::from_bits(nearest_bits(value, F16))
    }
}

impl Element for bf16 {
    const DTYPE: DType = DType::Bf16;

    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    fn from_f64(value: f64) -> Self {
        Self::from_bits(nearest_bits(value, BF16))
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

impl Float for f32 {}
impl Float for f16 {}
impl Float for bf16 {}
impl Quantised for i8 {}
impl Real for f32 {}
impl Real for f16 {}
impl Real for bf16 {}

pub(super) mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for half::f16 {}
    impl Sealed for half::bf16 {}
    impl Sealed for i8 {}
    impl Sealed for i32 {}
}
