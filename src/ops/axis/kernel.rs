//! The kernels of operations along an axis: `shaders/ops/softmax.wgsl`, and `shaders/ops/reduce.wgsl` for reductions.

use super::problem::{AxisDims, AxisFunction, AxisProblem, LANES};
use crate::caps::Caps;
use crate::kernel::{self, AccessWidth, Kernel, OperandAccess, StorageFormat};
use crate::ops::packing::{constant, per_word};

impl AxisProblem {
    /// The kernel on a device.
    pub(super) fn kernel(&self, caps: &Caps) -> Kernel {
        let format = StorageFormat::of(self.dtype, caps);
        let softmax = self.function == AxisFunction::Softmax;
        // Rows of even length begin at pairs, and so does a single row. They are stored in pairs.
        let is_aligned = softmax && (self.dims.length.is_multiple_of(2) || self.dims.rows == 1);
        let pairs = format.elements_per_scalar() == 2 && is_aligned;
        let kernel = Kernel::new(if softmax { "ops/softmax" } else { "ops/reduce" })
            .dims(caps, size_of::<AxisDims>())
            .param("LANES", kernel::workgroup_size(LANES, caps))
            .result(OperandAccess::write(format, if pairs { AccessWidth::Two } else { AccessWidth::One }));
        let operand = OperandAccess::read(format, AccessWidth::One);
        match self.function {
            AxisFunction::MaxAbs => self.read_bits(kernel),
            AxisFunction::SumSquares => kernel.operand("a", operand).slot("term", "square"),
            AxisFunction::Softmax if pairs => kernel.operand("a", operand).slot("store_quad", "pairs"),
            AxisFunction::Softmax | AxisFunction::Sum => kernel.operand("a", operand),
        }
    }

    /// A kernel that reads elements as bits.
    fn read_bits(&self, kernel: Kernel) -> Kernel {
        kernel
            .slot("term", "magnitude")
            .param("a_unit", "u32")
            .param("held", "u32")
            .param("A_TYPE", constant(self.dtype))
            .param("A_PER_WORD", per_word(self.dtype))
    }
}
