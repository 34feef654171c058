//! The plan of a copy or cast: one step, or one for each window.

use super::kernel::LANES;
use super::problem::{CastProblem, op};
use crate::caps::Caps;
use crate::kernel::Needs;
use crate::layout::Layout;
use crate::ops::windows::JOINS;
use crate::plan::{
    CutAxes, Dims, Draft, Flops, InWindows, NewStep, Operand, Plan, Problem, Time, plan_in_windows,
};
use crate::{Error, Result};
use std::ops::Range;

impl Problem for CastProblem {
    /// One step, or one for each window. The kernel depends on the types, and on whether the view is contiguous.
    ///
    /// Operands: the view, the copy.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        plan_in_windows(self, caps, JOINS)
    }
}

impl InWindows for CastProblem {
    fn cut_axes(&self) -> Result<CutAxes> {
        Ok(CutAxes::of(self.view.shape(), self.operands()))
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        Self::new(&layouts[0], self.from, self.to, self.overflow)
    }

    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let op = op(self.from, self.to);
        if self.view.is_empty() {
            return Err(Error::shape(op, "the view must have at least one element", &[0]));
        }
        let mut draft = Draft::new(op, &[], caps);
        let args = draft.operands(&self.operands());
        draft.step(NewStep {
            kernel: self.kernel(caps),
            tile: format!("{LANES} invocations, {} to {}", self.from, self.to),
            needs: Needs { bindings: 2, invocations: LANES, workgroup_bytes: 0 },
            blocks: u64::from(self.blocks(LANES)),
            dims: Dims::of(&self.dims()),
            args: &args,
            flops: Flops::default(),
            time: Time::Roofline,
        })?;
        Ok(draft.finish())
    }
}

impl CastProblem {
    /// The view, and the copy.
    fn operands(&self) -> Vec<Operand> {
        vec![
            Operand::read("the view", self.from, self.view),
            Operand::written("the copy", self.to, self.view.dense()),
        ]
    }
}
