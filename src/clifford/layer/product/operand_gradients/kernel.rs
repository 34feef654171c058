//! The kernel of both operands' gradients: its parameters and slots.

use super::problem::{OperandGradientsDims, OperandGradientsProblem};
use crate::caps::Caps;
use crate::kernel::{AccessWidth, Kernel, OperandAccess, StorageFormat};

/// Invocations of one workgroup.
pub(super) const LANES: u32 = 64;

impl OperandGradientsProblem {
    pub(super) fn kernel(&self, caps: &Caps) -> Kernel {
        let format = StorageFormat::of(self.dtype, caps);
        let operand = OperandAccess::read(format, AccessWidth::One);
        let result = OperandAccess::write(format, AccessWidth::One);
        Kernel::new("clifford/operand_gradients")
            .dims::<OperandGradientsDims>(caps)
            .operand("x", operand)
            .operand("y", operand)
            .operand("u", result)
            .operand("v", result)
            .param("LANES", format!("{LANES}u"))
            .slot("gate", self.gate.variant())
            .generated("operand_gradient_terms", self.description.clone(), self.terms.clone())
    }
}
