//! The kinds of values in an expression.

use crate::layout::DType;
use std::fmt;

/// The kind of a value in an expression. It does not depend on the storage types of the tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// An f32.
    Real,
    /// An i32.
    Integer,
    /// True or false.
    Mask,
}

impl Kind {
    /// The kind of an element. Masks in memory are integers.
    pub(super) fn of(dtype: DType) -> Self {
        if dtype.is_real() { Self::Real } else { Self::Integer }
    }

    /// The WGSL type of four values.
    pub(super) fn wgsl(self) -> &'static str {
        match self {
            Self::Real => "vec4<f32>",
            Self::Integer => "vec4<i32>",
            Self::Mask => "vec4<bool>",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Real => "a real",
            Self::Integer => "an integer",
            Self::Mask => "a mask",
        })
    }
}
