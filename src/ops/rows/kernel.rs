//! The kernels of operations along one axis: `shaders/ops/softmax.wgsl`, and `shaders/ops/reduce.wgsl` for all else.

use super::problem::{LANES, Rows, RowsDims, RowsProblem};
use crate::caps::Caps;
use crate::kernel::{self, Kernel, OperandAccess, StorageFormat, VectorWidth};
use crate::ops::numbers::constant;

impl RowsProblem {
    /// What runs in each workgroup.
    pub(super) fn kernel(&self, caps: &Caps) -> Kernel {
        let format = StorageFormat::of(self.dtype, caps);
        let softmax = self.function == Rows::Softmax;
        // Rows of even length begin with a pair of their own, as does a row that is alone: they are stored by pairs.
        let whole = softmax && (self.dims.length.is_multiple_of(2) || self.dims.rows == 1);
        let pairs = format.elements_per_scalar() == 2 && whole;
        let kernel = Kernel::new(if softmax { "ops/softmax" } else { "ops/reduce" })
            .dims(caps, size_of::<RowsDims>())
            .param("LANES", kernel::workgroup_size(LANES, caps))
            .result(OperandAccess::write(format, if pairs { VectorWidth::Two } else { VectorWidth::One }));
        let operand = OperandAccess::read(format, VectorWidth::One);
        match self.function {
            Rows::MaxAbs => self.words(kernel),
            Rows::SumSquares => kernel.operand("a", operand).slot("term", "square"),
            Rows::Softmax if pairs => kernel.operand("a", operand).slot("store_quad", "pairs"),
            Rows::Softmax | Rows::Sum => kernel.operand("a", operand),
        }
    }

    /// Elements as bits, read from words.
    fn words(&self, kernel: Kernel) -> Kernel {
        kernel
            .slot("term", "magnitude")
            .param("a_unit", "u32")
            .param("held", "u32")
            .param("A_TYPE", constant(self.dtype))
            .param("A_PER_WORD", 4 / self.dtype.size())
    }
}
