//! The plan of an elementwise function: one step.

use super::kernel::LANES;
use super::problem::{Elementwise, ElementwiseProblem};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::Needs;
use crate::layout::dim;
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Problem, Time};

impl Problem for ElementwiseProblem {
    /// One step. The kernel depends on the function and the memory layout.
    ///
    /// Operands: C, A, and B if the function has two.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let op = self.function.op();
        let access = if self.function.is_update() { Access::Update } else { Access::Write };
        let mut draft = Draft::new(op, &[], caps);
        let mut args = Vec::with_capacity(3);
        let operands = ["the output", "a", "b"].into_iter().zip(self.layouts()?);
        for (i, (name, layout)) in operands.enumerate().take(1 + self.function.operands()) {
            let access = if i == 0 { access } else { Access::Read };
            args.push((draft.operand(name, self.dtype, layout, access), access));
        }
        let [.., units] = self.dims.offsets;
        let elements = args[0].0.layout.len() as f64;
        draft.step(NewStep {
            kernel: self.kernel(caps),
            tile: format!(
                "{LANES} invocations, {} elements each, {}",
                self.elements_per_invocation(caps),
                self.dtype
            ),
            needs: Needs { bindings: dim(op, args.len())?, invocations: LANES, workgroup_bytes: 0 },
            blocks: u64::from(units.div_ceil(LANES * self.units_per_invocation(caps))),
            dims: Dims::of(&self.dims),
            args: &args,
            flops: Flops::of_f32(elements * self.function.flops()),
            time: Time::Roofline,
        })?;
        Ok(draft.finish())
    }
}

impl Elementwise {
    /// The approximate number of operations per element.
    fn flops(self) -> f64 {
        match self {
            Self::Activate(activation) | Self::ActivateBackward(activation) => activation.flops(),
            Self::Add | Self::Sub | Self::Mul | Self::AddAssign | Self::SubAssign => 1.0,
        }
    }
}
