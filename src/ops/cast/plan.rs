//! The plan of a copy or cast: one step.

use super::kernel::LANES;
use super::problem::{CastProblem, op};
use crate::caps::Caps;
use crate::kernel::Needs;
use crate::layout::Layout;
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Problem, Time};
use crate::{Error, Result};

impl Problem for CastProblem {
    /// One step. The kernel depends on the types, and on whether the view is contiguous.
    ///
    /// Operands: the view, the copy.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let op = op(self.from, self.to);
        if self.dims.count == 0 {
            return Err(Error::shape(op, "the view must have at least one element", &[0]));
        }
        let mut draft = Draft::new(op, &[], caps);
        let view = draft.operand("the view", self.from, self.layout()?, Access::Read);
        let copy = Layout::contiguous(op, &[self.dims.count as usize])?;
        let copy = draft.operand("the copy", self.to, copy, Access::Write);
        draft.step(NewStep {
            kernel: self.kernel(caps),
            tile: format!("{LANES} invocations, {} to {}", self.from, self.to),
            needs: Needs { bindings: 2, invocations: LANES, workgroup_bytes: 0 },
            blocks: u64::from(self.blocks(LANES)),
            dims: Dims::of(&self.dims),
            args: &[(view, Access::Read), (copy, Access::Write)],
            flops: Flops::default(),
            time: Time::Roofline,
        })?;
        Ok(draft.finish())
    }
}
