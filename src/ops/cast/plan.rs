//! The plan of a copy or cast: one step, or one for each window.

use super::kernel::LANES;
use super::problem::{CastProblem, op};
use crate::caps::Caps;
use crate::kernel::Needs;
use crate::layout::Layout;
use crate::ops::windows::JOINS;
use crate::plan::{CutAxes, Dims, Draft, InWindows, Joins, NewStep, Operand, Plan};
use crate::{Error, Result};
use std::ops::Range;

impl InWindows for CastProblem {
    const JOINS: Joins = JOINS;

    fn cut_axes(&self) -> Result<CutAxes> {
        Ok(CutAxes::of(self.view.shape(), self.operands()))
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        Self::new(&layouts[0], self.from, self.to, self.overflow)
    }

    /// One step, or one for each window. The kernel depends on the types, and on whether the view is contiguous.
    ///
    /// Operands: the view, the copy.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let op = op(self.from, self.to);
        if self.view.is_empty() {
            return Err(Error::shape(op, "the view must have at least one element", &[0]));
        }
        let mut draft = Draft::new(op, &[], caps);
        let args = draft.operands(&self.operands());
        draft.step(NewStep {
            tile: format!("{LANES} invocations, {} to {}", self.from, self.to),
            blocks: u64::from(self.blocks(LANES)),
            dims: Dims::of(&self.dims()),
            ..NewStep::of(self.kernel(caps), Needs::of(LANES, 0), &args)
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
