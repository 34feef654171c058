//! The plan of an f16 split: one step.

use super::problem::{F16SplitProblem, OP};
use crate::caps::Caps;
use crate::kernel::Needs;
use crate::layout::{DType, Layout};
use crate::plan::{Access, Bound, Dims, Draft, Flops, NewStep, Plan, Prediction, Problem, Time};
use crate::{Error, Result};

impl Problem for F16SplitProblem {
    /// One step. Its tile depends on the order in which the operand is stored.
    ///
    /// Operands: the f32 operand, its f16 split, the exponents.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let shape = self.shape();
        if shape.contains(&0) {
            return Err(Error::shape(OP, "the operand must not be empty", &shape));
        }
        let (mut draft, dims) = (Draft::new(OP, &[], caps), self.dims());
        let x = draft.operand("the operand", DType::F32, self.x.layout(), Access::Read);
        let values = Layout::contiguous(OP, &shape)?;
        let values = draft.operand("the f16 split", DType::F16, values, Access::Write);
        let exponents = Layout::contiguous(OP, &shape[..1])?;
        let exponents = draft.operand("the exponents", DType::I32, exponents, Access::Write);
        let [tile_rows, lanes] = self.tile(caps);
        let entries = f64::from(dims.rows) * f64::from(dims.k);
        // Each row is read twice, the first time for its largest magnitude.
        let read = 2.0 * entries * DType::F32.size() as f64;
        let written = values.layout.len() as f64 * DType::F16.size() as f64;
        draft.step(NewStep {
            tile: format!("{tile_rows} rows, {lanes} invocations, {} f16 per element", self.half_count),
            blocks: u64::from(dims.rows.div_ceil(tile_rows)),
            dims: Dims::of(&dims),
            flops: Flops::of_f32(entries * f64::from(1 + 2 * self.half_count)),
            time: Time::Predicted(Prediction {
                seconds: (read + written) / caps.machine.memory_bandwidth,
                bound: Bound::Memory,
            }),
            ..NewStep::of(
                self.kernel([tile_rows, lanes], caps),
                Needs::of(lanes, (4 * lanes).next_multiple_of(16)),
                &[(x, Access::Read), (values, Access::Write), (exponents, Access::Write)],
            )
        })?;
        Ok(draft.finish())
    }
}
