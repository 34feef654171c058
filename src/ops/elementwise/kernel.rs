//! The kernel of elementwise functions, `shaders/ops/elementwise.wgsl`.

use super::problem::{Elementwise, ElementwiseDims, ElementwiseProblem};
use crate::caps::Caps;
use crate::kernel::{AccessWidth, Kernel, OperandAccess, StorageFormat};

/// Invocations per workgroup.
pub(super) const LANES: u32 = 64;

impl ElementwiseProblem {
    /// The kernel with the slots of the function and of the memory layout.
    pub(super) fn kernel(&self, caps: &Caps) -> Kernel {
        let format = StorageFormat::of(self.dtype, caps);
        let axes = &self.dims.axes[..self.dims.rank as usize];
        // Contiguous rows that begin at pairs are stored in pairs.
        let is_aligned = axes[0][1] <= 1 && axes[1..].iter().all(|axis| axis[1].is_multiple_of(2));
        let pairs = format.elements_per_scalar() == 2 && is_aligned && self.dims.offsets[0].is_multiple_of(2);
        let operand = OperandAccess::read(format, AccessWidth::One);
        let result = OperandAccess::write(format, if pairs { AccessWidth::Two } else { AccessWidth::One });
        let is_update = self.function == Elementwise::AddAssign;
        let mut kernel = Kernel::new("ops/elementwise")
            .dims(caps, size_of::<ElementwiseDims>())
            .param("LANES", LANES)
            .operand("a", operand)
            .result(if is_update { result.and_read(AccessWidth::One) } else { result });
        if pairs {
            kernel = kernel.slot("store_quad", "pairs");
        }
        match self.function {
            Elementwise::Activate(activation) => {
                kernel.slot("operands", "one").slot("activation", activation.variant())
            }
            Elementwise::ActivateBackward(activation) => {
                let kernel = kernel.operand("b", operand).param("COMBINATION", "GRADIENT");
                kernel.slot("activation", activation.variant())
            }
            Elementwise::Add => kernel.operand("b", operand),
            Elementwise::Sub => kernel.operand("b", operand).param("COMBINATION", "DIFFERENCE"),
            Elementwise::Mul => kernel.operand("b", operand).param("COMBINATION", "PRODUCT"),
            Elementwise::AddAssign => kernel.slot("operands", "update"),
        }
    }
}
