//! How to compute what some rows hand back to both operands: one step.

use super::kernel::LANES;
use super::problem::ConnectedBackProblem;
use crate::Result;
use crate::caps::Caps;
use crate::clifford::layer::connected::problem::OP;
use crate::layout::{DType, Layout};
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Problem, Time};

impl Problem for ConnectedBackProblem {
    /// There is one kernel.
    ///
    /// Operands: the gradients of X and Y; what came back through the weights (pair, row, feature), in f32; X and Y.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let Self { dims, dtype, pairs, flops, layouts: [x, y, gradient], .. } = self;
        let mut draft = Draft::new(OP, &[], caps);
        let rest = u64::from(dims.plane) - u64::from(dims.positions);
        let writes = if rest == 0 { Access::Write } else { Access::Update };
        let dx = draft.operand("the gradient of X", *dtype, *gradient, writes);
        let dy = draft.operand("the gradient of Y", *dtype, *gradient, writes);
        let through = Layout::contiguous(OP, &[*pairs, dims.positions as usize])?;
        let through = draft.operand("what came back", DType::F32, through, Access::Read);
        let x = draft.operand("X", *dtype, *x, Access::Read);
        let y = draft.operand("Y", *dtype, *y, Access::Read);
        let flops = *flops as f64 * f64::from(dims.positions);
        let read = [through, x, y].map(|region| (region, Access::Read));
        draft.step(NewStep {
            kernel: self.kernel(caps),
            tile: format!("{LANES} invocations, {}, {dtype}", self.what),
            needs: Self::needs(),
            blocks: u64::from(dims.positions.div_ceil(LANES)),
            dims: Dims::of(dims),
            args: &[&[(dx, writes), (dy, writes)], &read[..]].concat(),
            flops: Flops::of_f32(flops),
            time: Time::Roofline,
        })?;
        Ok(draft.finish())
    }
}
