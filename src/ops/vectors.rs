//! How kernels move elements: one by one, or in vectors of 16 bytes.

use crate::layout::DType;

/// How a kernel moves the elements of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Moves {
    /// One by one: any strides.
    Elements,
    /// In vectors of 16 bytes, which GPUs load and store with one instruction.
    Vectors,
}

impl Moves {
    /// Vectors, if the elements of every row are neighbours, and every row begins at a multiple of a vector. `strides` are
    /// those along the rows, `starts` the offsets and the strides from row to row.
    pub(super) fn of(
        dtype: DType,
        strides: impl IntoIterator<Item = u32>,
        starts: impl IntoIterator<Item = u32>,
    ) -> Self {
        let are_neighbours = strides.into_iter().all(|stride| stride == 1);
        let is_aligned = starts.into_iter().all(|start| start.is_multiple_of(per_vector(dtype)));
        if are_neighbours && is_aligned { Self::Vectors } else { Self::Elements }
    }
}

/// The number of elements in a vector of 16 bytes.
pub(super) fn per_vector(dtype: DType) -> u32 {
    match dtype {
        DType::F32 | DType::I32 => 4,
        DType::F16 | DType::Bf16 => 8,
        DType::I8 => 16,
    }
}

/// The number of groups of four elements in a vector.
pub(super) fn quads(dtype: DType) -> u32 {
    per_vector(dtype) / 4
}
