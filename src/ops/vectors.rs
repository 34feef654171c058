//! How kernels move elements: one by one, or in vectors of 16 bytes.

use crate::caps::Caps;
use crate::kernel::{AccessWidth, Kernel, OperandAccess, StorageFormat};
use crate::layout::DType;

/// Bytes of a row that neighbouring invocations should read together before they continue with the next row.
const BYTES_TOGETHER: u32 = 512;
/// The largest number of vectors, or groups of four columns, of an invocation.
const MOST_NEIGHBOURS: u32 = 4;

/// How a kernel moves the elements of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Moves {
    /// One by one: any strides.
    Elements,
    /// In vectors of 16 bytes, which GPUs load and store with one instruction.
    Vectors,
}

impl Moves {
    /// Vectors, if the elements of every row are neighbours, and every row begins at a multiple of a vector. `strides` are
    /// those along the rows, `starts` the offsets and the strides from row to row.
    pub(crate) fn of(
        dtype: DType,
        strides: impl IntoIterator<Item = u32>,
        starts: impl IntoIterator<Item = u32>,
    ) -> Self {
        let are_neighbours = strides.into_iter().all(|stride| stride == 1);
        let is_aligned = starts.into_iter().all(|start| start.is_multiple_of(per_vector(dtype)));
        if are_neighbours && is_aligned { Self::Vectors } else { Self::Elements }
    }

    /// A kernel that reads rows of the operand `name` by the slot `row`.
    pub(crate) fn read_row(
        self,
        kernel: Kernel,
        [row, name]: [&'static str; 2],
        format: StorageFormat,
    ) -> Kernel {
        match self {
            Self::Elements => kernel.operand(name, OperandAccess::read(format, AccessWidth::One)),
            Self::Vectors => {
                kernel.slot(row, "vectors").quads(name, OperandAccess::read(format, AccessWidth::Four))
            }
        }
    }

    /// A kernel that stores rows of the result by the slot `row_store`. If it stores elements, this is their access.
    pub(crate) fn store_row(self, kernel: Kernel, elements: OperandAccess) -> Kernel {
        match self {
            Self::Elements => kernel.quad_result(elements),
            Self::Vectors => {
                let c = OperandAccess::write(elements.format, AccessWidth::Four);
                kernel.slot("row_store", "vectors").quads("c", c)
            }
        }
    }

    /// How many groups of four neighbouring elements are moved together.
    pub(crate) fn quads(self, dtype: DType) -> u32 {
        match self {
            Self::Elements => 1,
            Self::Vectors => quads(dtype),
        }
    }
}

/// The number of elements in a vector of 16 bytes.
pub(crate) fn per_vector(dtype: DType) -> u32 {
    match dtype {
        DType::F32 | DType::I32 => 4,
        DType::F16 | DType::Bf16 => 8,
        DType::I8 | DType::F8E4M3 | DType::F8E5M2 => 16,
    }
}

/// The number of groups of four elements in a vector.
pub(crate) fn quads(dtype: DType) -> u32 {
    per_vector(dtype) / 4
}

/// The number of neighbouring vectors of an invocation, if rows allow it: several on devices where few invocations run side by
/// side.
pub(crate) fn neighbouring_vectors(caps: &Caps) -> u32 {
    (BYTES_TOGETHER / (16 * caps.machine.vector_lanes.max(1))).clamp(1, MOST_NEIGHBOURS)
}

/// The number of groups of four neighbouring columns of an invocation, if it loads vectors: those of one vector, or several on
/// devices where few invocations run side by side. The numbers `sizes` have to be multiples of their number of elements.
pub(crate) fn column_quads(dtype: DType, caps: &Caps, sizes: impl IntoIterator<Item = u32>) -> u32 {
    let one = quads(dtype);
    let many = one.max(neighbouring_vectors(caps));
    if sizes.into_iter().all(|size| size.is_multiple_of(4 * many)) { many } else { one }
}
