//! The plan of a copy or cast: one step, or one for each window.

use super::kernel::LANES;
use super::problem::{CastProblem, op};
use crate::caps::Caps;
use crate::kernel::Needs;
use crate::layout::Layout;
use crate::ops::windows::JOINS;
use crate::plan::{
    Access, CutAxes, CutOperand, Dims, Draft, Flops, Form, InWindows, NewStep, Plan, Problem, Time,
    plan_in_windows,
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
        let view = self.layout()?;
        let copy = Layout::contiguous(op(self.from, self.to), view.shape())?;
        let all: Vec<Option<usize>> = (0..view.rank()).map(Some).collect();
        let extents = view.shape().to_vec();
        let operands = vec![
            CutOperand::new(Form::View, view, self.from, all.clone()),
            CutOperand::new(Form::Dense, copy, self.to, all),
        ];
        Ok(CutAxes { extents, joined: 0, operands, whole: None })
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        Self::new(&layouts[0], self.from, self.to, self.overflow)
    }

    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
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
