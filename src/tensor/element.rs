//! The element types of tensors.

use half::f16;
use std::fmt;

/// A scalar that tensors can hold: `f32` or [`struct@f16`].
pub trait Element: bytemuck::Pod + fmt::Debug + PartialOrd + Send + Sync + sealed::Sealed {
    /// The type, as a value.
    const DTYPE: DType;

    /// The value, exactly.
    fn to_f64(self) -> f64;

    /// The nearest value of this type.
    fn from_f64(value: f64) -> Self;
}

/// The type of a tensor's elements, as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DType {
    /// IEEE 754 single precision.
    F32,
    /// IEEE 754 half precision.
    F16,
}

impl DType {
    /// Bytes of one element.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 => 2,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
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

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for half::f16 {}
}
