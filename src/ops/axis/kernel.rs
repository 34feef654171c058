//! The kernels of operations along an axis: `shaders/ops/softmax.wgsl`, and `shaders/ops/reduce.wgsl` for reductions.

use super::problem::{AxisDims, AxisFunction, AxisProblem, LANES};
use crate::caps::Caps;
use crate::kernel::{self, AccessWidth, Kernel, OperandAccess, StorageFormat};
use crate::ops::packing::{constant, per_word, quad_unit, quad_variant};
use crate::ops::vectors::{Moves, quads};

/// The subgroup size of a device, if it has one only and workgroups consist of whole subgroups.
pub(super) fn subgroup(caps: &Caps) -> Option<u32> {
    let lanes = kernel::workgroup_size(LANES, caps);
    let sizes = caps.subgroups.filter(|sizes| sizes.min == sizes.max)?;
    (sizes.min > 1 && sizes.min.is_power_of_two() && sizes.min <= lanes).then_some(sizes.min)
}

impl AxisProblem {
    /// The kernel on a device.
    pub(super) fn kernel(&self, caps: &Caps) -> Kernel {
        let format = StorageFormat::of(self.dtype, caps);
        let kernel = |shader| {
            let lanes = kernel::workgroup_size(LANES, caps);
            let kernel = Kernel::new(shader).dims(caps, size_of::<AxisDims>()).param("LANES", lanes);
            match subgroup(caps) {
                None => kernel,
                Some(size) => {
                    kernel.slot("row_lanes", "subgroups").param("SUBGROUP", size).require_subgroup_size(size)
                }
            }
        };
        match self.function {
            AxisFunction::Softmax => self.softmax(kernel("ops/softmax"), format),
            AxisFunction::MaxAbs => self.reduce_bits(kernel("ops/reduce"), format),
            AxisFunction::SumSquares => self.reduce(kernel("ops/reduce").slot("term", "square"), format),
            AxisFunction::Sum => self.reduce(kernel("ops/reduce"), format),
        }
    }

    fn softmax(&self, kernel: Kernel, format: StorageFormat) -> Kernel {
        let access = |width| [OperandAccess::read(format, width), OperandAccess::write(format, width)];
        if self.moves() == Moves::Vectors {
            let [a, c] = access(AccessWidth::Four);
            let kernel = kernel.slot("row", "vectors").param("QUADS", quads(self.dtype));
            return kernel.quads("a", a).quads("c", c);
        }
        let [a, c] = access(AccessWidth::One);
        // Rows of even length begin at pairs, and so does a single row. They are stored in pairs.
        let is_aligned = self.dims.length.is_multiple_of(2) || self.dims.rows == 1;
        if format.elements_per_scalar() == 2 && is_aligned {
            let c = OperandAccess::write(format, AccessWidth::Two);
            return kernel.operand("a", a).result(c).slot("store_quad", "pairs");
        }
        kernel.operand("a", a).result(c)
    }

    /// A reduction of elements as numbers.
    fn reduce(&self, kernel: Kernel, format: StorageFormat) -> Kernel {
        let kernel = kernel.result(OperandAccess::write(format, AccessWidth::One));
        match self.moves() {
            Moves::Elements => kernel.operand("a", OperandAccess::read(format, AccessWidth::One)),
            Moves::Vectors => kernel
                .slot("row_terms", "vectors")
                .param("QUADS", quads(self.dtype))
                .quads("a", OperandAccess::read(format, AccessWidth::Four)),
        }
    }

    /// A reduction of elements as bits.
    fn reduce_bits(&self, kernel: Kernel, format: StorageFormat) -> Kernel {
        let kernel = kernel
            .result(OperandAccess::write(format, AccessWidth::One))
            .slot("term", "magnitude")
            .param("held", "u32")
            .param("A_TYPE", constant(self.dtype));
        match self.moves() {
            Moves::Elements => kernel
                .slot("row_terms", "bits")
                .param("a_unit", "u32")
                .param("A_PER_WORD", per_word(self.dtype)),
            Moves::Vectors => kernel
                .slot("row_terms", "vectors_of_bits")
                .slot("quad_bits_a", quad_variant(self.dtype))
                .param("a_unit", quad_unit(self.dtype))
                .param("QUADS", quads(self.dtype)),
        }
    }
}
