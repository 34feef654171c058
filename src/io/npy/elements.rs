//! The elements of a `.npy` file and their order in memory.

use crate::io::number::FileNumber;
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
    /// `'<f8'` or `'>f8'`. No tensor has this type.
    F64(Vec<f64>),
    /// `'<f4'` or `'>f4'`.
    F32(Vec<f32>),
    /// `'<f2'` or `'>f2'`.
    F16(Vec<f16>),
    /// `'<i8'` or `'>i8'`. No tensor has this type.
    I64(Vec<i64>),
    /// `'<i4'` or `'>i4'`.
    I32(Vec<i32>),
    /// `'<i2'` or `'>i2'`. No tensor has this type.
    I16(Vec<i16>),
    /// `'|i1'`.
    I8(Vec<i8>),
    /// `'<u8'` or `'>u8'`. No tensor has this type.
    U64(Vec<u64>),
    /// `'<u4'` or `'>u4'`. No tensor has this type.
    U32(Vec<u32>),
    /// `'<u2'` or `'>u2'`. No tensor has this type.
    U16(Vec<u16>),
    /// `'|u1'`. No tensor has this type.
    U8(Vec<u8>),
    /// `'|b1'`. No tensor has this type.
    Bool(Vec<bool>),
}

impl NpyData {
    /// The element type. None if no tensor has it.
    pub(super) fn dtype(&self) -> Option<DType> {
        match self {
            Self::F32(_) => Some(DType::F32),
            Self::F16(_) => Some(DType::F16),
            Self::I32(_) => Some(DType::I32),
            Self::I8(_) => Some(DType::I8),
            _ => None,
        }
    }

    /// The name of the element type, such as `f64`.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::F64(_) => "f64",
            Self::F32(_) => "f32",
            Self::F16(_) => "f16",
            Self::I64(_) => "i64",
            Self::I32(_) => "i32",
            Self::I16(_) => "i16",
            Self::I8(_) => "i8",
            Self::U64(_) => "u64",
            Self::U32(_) => "u32",
            Self::U16(_) => "u16",
            Self::U8(_) => "u8",
            Self::Bool(_) => "bool",
        }
    }

    /// Passes the elements to a function, in the order of the file.
    pub(super) fn each(&self, take: &mut dyn FnMut(FileNumber)) {
        fn all<T: Copy + Into<FileNumber>>(elements: &[T], take: &mut dyn FnMut(FileNumber)) {
            elements.iter().for_each(|&element| take(element.into()));
        }
        match self {
            Self::F64(elements) => all(elements, take),
            Self::F32(elements) => all(elements, take),
            Self::F16(elements) => all(elements, take),
            Self::I64(elements) => all(elements, take),
            Self::I32(elements) => all(elements, take),
            Self::I16(elements) => all(elements, take),
            Self::I8(elements) => all(elements, take),
            Self::U64(elements) => all(elements, take),
            Self::U32(elements) => all(elements, take),
            Self::U16(elements) => all(elements, take),
            Self::U8(elements) => all(elements, take),
            Self::Bool(elements) => all(elements, take),
        }
    }
}
