//! The kernel of gates: its parameters and slots. One invocation computes four features of a row.

use super::problem::{GatesDims, GatesProblem};
use crate::caps::Caps;
use crate::kernel::{AccessWidth, Kernel, Needs, OperandAccess, StorageFormat};

/// Invocations of one workgroup.
pub(super) const LANES: u32 = 64;

impl GatesProblem {
    /// The limits that a workgroup needs: bindings for the result and the scalars of both operands.
    pub(super) fn needs() -> Needs {
        Needs { bindings: 3, invocations: LANES, workgroup_bytes: 0 }
    }

    pub(super) fn kernel(&self, caps: &Caps) -> Kernel {
        let operand = OperandAccess::read(StorageFormat::of(self.dtype, caps), AccessWidth::One);
        Kernel::new("clifford/gates")
            .dims(caps, size_of::<GatesDims>())
            .operand("x", operand)
            .operand("y", operand)
            .param("LANES", format!("{LANES}u"))
            .slot("gate", self.gate.variant())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Result;
    use crate::caps::fixtures;
    use crate::clifford::layer::gate::Gate;
    use crate::kernel::wgsl::{Expression, naga_flops};
    use crate::layout::{DType, Layout};
    use crate::plan::Problem;

    #[test]
    fn gate_functions_have_the_flops_of_the_shader() -> Result<()> {
        let scalars = Layout::contiguous("test", &[1, 5, 8])?;
        for gate in Gate::ALL {
            let problem = GatesProblem::new(gate, [&scalars, &scalars], DType::F32)?;
            let text = problem.plan(&fixtures::h200())?.steps()[0].kernel.specialize()?;
            for callee in [gate.function_of(1), gate.slope_of(1)] {
                let call = callee.call::<Expression>([]);
                let name = call.to_string().replace("()", "");
                assert_eq!(call.flops(), naga_flops(&text, &name), "{name}");
            }
        }
        Ok(())
    }
}
