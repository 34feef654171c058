//! What the functions that layers' texts call compute: those of `common/math.wgsl` and `clifford/per_feature.wgsl`, which
//! their kernels import, and of the slot `gate`. A test holds the counts to the shaders.

use super::Gate;
use crate::kernel::write::Callee;

/// The smooth norm of a square.
pub(super) const NORM_OF: Callee = Callee::new("norm_of", 7);
/// Its slope.
pub(super) const NORM_SLOPE: Callee = Callee::new("norm_slope", 3);

/// Sigmoids of four numbers, of which so many are asked for.
pub(super) fn sigmoid_of(numbers: usize) -> Callee {
    Callee::new("sigmoid_of", 29 * numbers)
}

impl Gate {
    /// Operations of the gate of one number, and of its slope.
    pub(super) const fn flops(self) -> [usize; 2] {
        match self {
            Self::None => [0, 0],
            Self::Gelu => [26, 29],
            Self::GeluTanh => [34, 67],
        }
    }

    /// The gate of four numbers, of which so many are asked for.
    pub(super) fn function_of(self, numbers: usize) -> Callee {
        Callee::new("gate", self.flops()[0] * numbers)
    }

    /// Its slope, likewise.
    pub(super) fn slope_of(self, numbers: usize) -> Callee {
        Callee::new("gate_slope", self.flops()[1] * numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Result;
    use crate::caps::fixtures;
    use crate::clifford::Signature;
    use crate::clifford::layer::{FeatureFunction, FeaturesProblem, GatesProblem};
    use crate::kernel::write::{Expression, flops_as_read};
    use crate::layout::{DType, Layout};
    use crate::plan::Problem;

    /// The text of a plan's first step.
    fn text(problem: &impl Problem) -> Result<String> {
        problem.plan(&fixtures::h200())?.steps()[0].kernel.specialize()
    }

    fn assert_counted(callees: &[Callee], text: &str) {
        for callee in callees {
            let call = callee.call::<Expression>([]);
            let name = call.to_string().replace("()", "");
            assert_eq!(call.flops(), flops_as_read(text, &name), "{name}");
        }
    }

    #[test]
    fn functions_that_layers_call_do_as_many_operations_as_is_said() -> Result<()> {
        let scalars = Layout::contiguous("test", &[1, 5, 8])?;
        for gate in Gate::ALL {
            let text = text(&GatesProblem::new(gate, [&scalars, &scalars], DType::F32)?)?;
            assert_counted(&[gate.function_of(1), gate.slope_of(1)], &text);
        }
        let blades = Signature::CL2.blades();
        let [x, a] = [&[4, 5, 8][..], &[8, 3]].map(|shape| Layout::contiguous("test", shape));
        let (x, a) = (x?, a?);
        let function = FeatureFunction::Normalization;
        let text = text(&FeaturesProblem::new(function, &blades, &x, Some(&x), &[&a], DType::F32)?)?;
        assert_counted(&[sigmoid_of(1), NORM_OF, NORM_SLOPE], &text);
        Ok(())
    }
}
