//! The kernel of gates: its parameters and slots. One invocation computes four features of a row.

use super::problem::{GatesDims, GatesProblem};
use crate::caps::Caps;
use crate::kernel::{AccessWidth, Kernel, OperandAccess, StorageFormat};

/// Invocations of one workgroup.
pub(super) const LANES: u32 = 64;

impl GatesProblem {
    /// The kernel. It moves four features together if they are neighbours in every operand and begin at multiples of
    /// four.
    pub(super) fn kernel(&self, caps: &Caps) -> Kernel {
        let format = StorageFormat::of(self.dtype, caps);
        let kernel = Kernel::new("clifford/gates")
            .dims::<GatesDims>(caps)
            .param("LANES", format!("{LANES}u"))
            .slot("gate", self.gate.variant());
        let d = &self.dims;
        let starts = [d.features, d.x_offset, d.x_row, d.y_offset, d.y_row];
        if [d.x_feature, d.y_feature] == [1; 2] && starts.iter().all(|start| start.is_multiple_of(4)) {
            let operand = OperandAccess::read(format, AccessWidth::Four);
            let kernel = kernel.slot("scalars_x", "quads").slot("scalars_y", "quads");
            let kernel = kernel.quads("x", operand).quads("y", operand);
            let result = OperandAccess::write(StorageFormat::F32, AccessWidth::Four);
            return kernel.slot("store_consecutive", "four_whole").result(result);
        }
        let operand = OperandAccess::read(format, AccessWidth::One);
        kernel.operand("x", operand).operand("y", operand)
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
