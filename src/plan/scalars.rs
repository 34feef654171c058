//! The numbers that a call passes to a plan.

use std::fmt;

/// A number that a plan takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScalarParameter {
    /// The name, such as `alpha`.
    pub name: &'static str,
    /// The type.
    pub kind: ScalarKind,
}

impl ScalarParameter {
    /// An f32.
    pub(crate) const fn f32(name: &'static str) -> Self {
        Self { name, kind: ScalarKind::F32 }
    }

    /// A u32, such as one word of a seed.
    pub(crate) const fn u32(name: &'static str) -> Self {
        Self { name, kind: ScalarKind::U32 }
    }
}

/// The type of a number that a call passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarKind {
    /// f32.
    F32,
    /// u32.
    U32,
}

impl fmt::Display for ScalarKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F32 => "f32",
            Self::U32 => "u32",
        })
    }
}

/// A number that a call passes to a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// An f32.
    F32(f32),
    /// A u32.
    U32(u32),
}

impl Scalar {
    /// The type.
    #[must_use]
    pub fn kind(self) -> ScalarKind {
        match self {
            Self::F32(_) => ScalarKind::F32,
            Self::U32(_) => ScalarKind::U32,
        }
    }

    /// The bits that the kernel's uniform holds.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Self::F32(x) => x.to_bits(),
            Self::U32(x) => x,
        }
    }
}

impl From<f32> for Scalar {
    fn from(x: f32) -> Self {
        Self::F32(x)
    }
}

impl From<u32> for Scalar {
    fn from(x: u32) -> Self {
        Self::U32(x)
    }
}
