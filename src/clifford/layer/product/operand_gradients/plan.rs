//! The plan of both operands' gradients: one step.

use super::kernel::LANES;
use super::problem::{OP, OperandGradientsProblem};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::Needs;
use crate::layout::{DType, Layout};
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Problem};

impl Problem for OperandGradientsProblem {
    /// One step. Operands: the gradients of X and Y; the gradients of the path sums (pair, row, feature), in f32; X and
    /// Y.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let Self { dims, dtype, pairs, flops, layouts: [x, y, gradient], .. } = self;
        let mut draft = Draft::new(OP, &[], caps);
        let is_all = dims.positions == dims.plane;
        let writes = if is_all { Access::Write } else { Access::Update };
        let dx = draft.operand("the gradient of X", *dtype, *gradient, writes);
        let dy = draft.operand("the gradient of Y", *dtype, *gradient, writes);
        let path_gradients = Layout::contiguous(OP, &[*pairs, dims.positions as usize])?;
        let path_gradients =
            draft.operand("the gradients of the path sums", DType::F32, path_gradients, Access::Read);
        let x = draft.operand("X", *dtype, *x, Access::Read);
        let y = draft.operand("Y", *dtype, *y, Access::Read);
        let flops = *flops as f64 * f64::from(dims.positions);
        let read = [path_gradients, x, y].map(|region| (region, Access::Read));
        draft.step(NewStep {
            tile: format!("{LANES} invocations, {}, {dtype}", self.description),
            blocks: u64::from(dims.positions.div_ceil(LANES)),
            dims: Dims::of(dims),
            flops: Flops::of_f32(flops),
            ..NewStep::of(
                self.kernel(caps),
                Needs::of(LANES, 0),
                &[&[(dx, writes), (dy, writes)], &read[..]].concat(),
            )
        })?;
        Ok(draft.finish())
    }
}
