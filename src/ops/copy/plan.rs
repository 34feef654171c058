//! The plan of a copy: one step, or one for each window.

use super::kernel::LANES;
use super::problem::{CopyProblem, Longer, Sliced};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::Needs;
use crate::layout::{DType, Layout};
use crate::plan::{
    Access, CutAxes, CutOperand, Dims, Draft, Flops, Form, InWindows, Joins, NewStep, Plan, Problem, Time,
    plan_in_windows,
};
use std::ops::Range;

impl Problem for CopyProblem {
    /// One step, or one for each window. The kernel depends on whether rows are whole words, and whether it reads a position
    /// from a tensor.
    ///
    /// Operands: C, A; with a position, the tensor of the position.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        plan_in_windows(self, caps, Joins::NONE)
    }
}

impl InWindows for CopyProblem {
    fn cut_axes(&self) -> Result<CutAxes> {
        let ([c, a], uncut) = match self.sliced {
            None => (self.layouts()?, None),
            Some(Sliced { longer: Longer::C, axis, whole, other }) => ([whole, other], Some(axis)),
            Some(Sliced { longer: Longer::A, axis, whole, other }) => ([other, whole], Some(axis)),
        };
        let axes: Vec<usize> = (0..c.rank()).filter(|&axis| Some(axis) != uncut).collect();
        let own: Vec<Option<usize>> = axes.iter().copied().map(Some).collect();
        let mut operands = vec![
            CutOperand::new(Form::View, c, self.dtype, own.clone()),
            CutOperand::new(Form::View, a, self.dtype, own),
        ];
        if uncut.is_some() {
            operands.push(CutOperand::whole(self.position()?, DType::I32, axes.len()));
        }
        let extents = axes.iter().map(|&axis| c.shape()[axis]).collect();
        Ok(CutAxes { extents, joined: 0, operands, whole: uncut })
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        match (self.sliced, layouts) {
            (Some(sliced), [c, a, at]) => {
                Self::at_position(sliced.longer, [a, c], sliced.axis, at, self.dtype)
            }
            _ => Self::new(&layouts[1], &layouts[0], self.dtype),
        }
    }

    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(self.op(), &[], caps);
        let [c, a] = self.layouts()?;
        let (c, a) = match self.sliced {
            None => (
                draft.operand("the output", self.dtype, c, Access::Write),
                draft.operand("a", self.dtype, a, Access::Read),
            ),
            // The kernel writes one slice of the output, but binds the whole output.
            Some(Sliced { longer: Longer::C, whole, .. }) => (
                draft.operand("the output", self.dtype, whole, Access::Update).touched_like(c),
                draft.operand("a", self.dtype, a, Access::Read),
            ),
            Some(Sliced { longer: Longer::A, whole, .. }) => (
                draft.operand("the output", self.dtype, c, Access::Write),
                draft.operand("a", self.dtype, whole, Access::Read).touched_like(a),
            ),
        };
        let mut args = vec![(c, Access::Write), (a, Access::Read)];
        if self.sliced.is_some() {
            let position = draft.operand("the position", DType::I32, self.position()?, Access::Read);
            args.push((position, Access::Read));
        }
        draft.step(NewStep {
            kernel: self.kernel(caps),
            tile: self.tile(),
            needs: Needs {
                bindings: if self.sliced.is_some() { 3 } else { 2 },
                invocations: LANES,
                workgroup_bytes: 0,
            },
            blocks: u64::from(self.dims.units.div_ceil(LANES)),
            dims: Dims::of(&self.dims),
            args: &args,
            flops: Flops::default(),
            time: Time::Roofline,
        })?;
        Ok(draft.finish())
    }
}
