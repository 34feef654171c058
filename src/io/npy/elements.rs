//! The elements of a `.npy` file and their order in memory.

use crate::layout::DType;
use half::f16;

/// The index that runs fastest from one element of a file to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryOrder {
    /// The last index (row-major), as in C.
    C,
    /// The first index (column-major), as in Fortran.
    Fortran,
}

/// The elements of a file, in the order of the file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NpyData {
    /// `'<f4'` or `'>f4'`.
    F32(Vec<f32>),
    /// `'<f2'` or `'>f2'`.
    F16(Vec<f16>),
    /// `'|i1'`.
    I8(Vec<i8>),
    /// `'<i4'` or `'>i4'`.
    I32(Vec<i32>),
}

impl NpyData {
    /// The element type.
    pub(super) fn dtype(&self) -> DType {
        match self {
            Self::F32(_) => DType::F32,
            Self::F16(_) => DType::F16,
            Self::I8(_) => DType::I8,
            Self::I32(_) => DType::I32,
        }
    }
}
