//! The kernel of functions of elements, `shaders/ops/elementwise.wgsl`: its slots hold the function, and how elements lie in
//! memory.

use super::problem::{Elementwise, ElementwiseDims, ElementwiseProblem};
use crate::caps::Caps;
use crate::kernel::{Kernel, OperandAccess, StorageFormat, VectorWidth};

/// Invocations of one workgroup.
pub(super) const LANES: u32 = 64;

impl ElementwiseProblem {
    /// What runs in each workgroup.
    pub(super) fn kernel(&self, caps: &Caps) -> Kernel {
        let format = StorageFormat::of(self.dtype, caps);
        let axes = &self.dims.axes[..self.dims.rank as usize];
        // Rows that begin with a pair of their own, and whose elements are neighbours, are stored by pairs.
        let whole = axes[0][1] <= 1 && axes[1..].iter().all(|axis| axis[1].is_multiple_of(2));
        let pairs = format.elements_per_scalar() == 2 && whole && self.dims.offsets[0].is_multiple_of(2);
        let operand = OperandAccess::read(format, VectorWidth::One);
        let result = OperandAccess::write(format, if pairs { VectorWidth::Two } else { VectorWidth::One });
        let is_update = self.function == Elementwise::Update;
        let mut kernel = Kernel::new("ops/elementwise")
            .dims(caps, size_of::<ElementwiseDims>())
            .param("LANES", LANES)
            .operand("a", operand)
            .result(if is_update { result.and_read(VectorWidth::One) } else { result });
        if pairs {
            kernel = kernel.slot("store_quad", "pairs");
        }
        match self.function {
            Elementwise::Activate(activation) => {
                kernel.slot("operands", "one").slot("activation", activation.variant())
            }
            Elementwise::Slope(activation) => {
                let kernel = kernel.operand("b", operand).param("COMBINATION", "GRADIENT");
                kernel.slot("activation", activation.variant())
            }
            Elementwise::Add => kernel.operand("b", operand),
            Elementwise::Sub => kernel.operand("b", operand).param("COMBINATION", "DIFFERENCE"),
            Elementwise::Mul => kernel.operand("b", operand).param("COMBINATION", "PRODUCT"),
            Elementwise::Update => kernel.slot("operands", "update"),
        }
    }
}
