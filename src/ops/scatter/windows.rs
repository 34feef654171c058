//! Windows of an addition to indexed elements: along the axes within a slot, and along the indexed axis.

use super::problem::{ScatterProblem, Target};
use crate::Result;
use crate::caps::Caps;
use crate::layout::{DType, Layout};
use crate::ops::elementwise::operation::Elementwise;
use crate::ops::elementwise::problem::ElementwiseProblem;
use crate::plan::{Along, CutAxes, CutOperand, Draft, Form, InWindows, Plan, Problem, Region, Windows};
use std::ops::Range;

impl InWindows for ScatterProblem {
    /// The axes that C and the values share, and then the indexed axis.
    fn cut_axes(&self) -> Result<CutAxes> {
        let [c, indices, values] = self.layouts;
        let indexed = self.target.axis();
        let shared: Vec<usize> = (0..c.rank()).filter(|&axis| axis != indexed).collect();
        let of_c = shared.iter().copied().chain([indexed]).map(Some).collect();
        let [mut of_indices, mut of_values]: [Vec<Option<usize>>; 2] = match self.target {
            Target::Rows { .. } => {
                let within = |at: &usize| Some(at - 1 + indices.rank());
                [vec![None; shared.len()], shared.iter().map(within).collect()]
            }
            Target::Positions(_) => [vec![None; shared.len()], shared.iter().copied().map(Some).collect()],
            Target::Elements(_) => {
                let all: Vec<Option<usize>> = shared.iter().copied().map(Some).collect();
                [all.clone(), all]
            }
        };
        // Elements may have fewer indices than C has positions.
        let extent = |&at: &usize| match self.target {
            Target::Elements(_) => values.shape()[at],
            Target::Rows { .. } | Target::Positions(_) => c.shape()[at],
        };
        let extents = shared.iter().map(extent).chain([c.shape()[indexed]]).collect();
        of_indices.push(None);
        of_values.push(None);
        Ok(CutAxes {
            extents,
            joined: 1,
            operands: vec![
                CutOperand::new(Form::Dense, c, self.dtype, of_c),
                CutOperand::new(Form::View, indices, DType::I32, of_indices),
                CutOperand::new(Form::Dense, values, self.dtype, of_values),
            ],
            whole: None,
        })
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        Self::new(self.target, [&layouts[0], &layouts[1], &layouts[2]], self.dtype)
    }

    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let op = self.target.op();
        let mut draft = Draft::new(op, &[], caps);
        let [c, indices, values] = self.operands(&mut draft);
        if c.bound_bytes() <= caps.limits.binding_bytes {
            self.steps(&mut draft, [c, indices, values])?;
            return Ok(draft.finish());
        }
        let mut axes = self.cut_axes()?;
        axes.operands.iter_mut().for_each(|operand| operand.form = Form::View);
        let windows = Windows::new(op, &mut axes, caps, Along::Joined)?;
        draft.reason(format!("{} windows along the indexed axis", windows.count()));
        for ranges in windows.blocks() {
            let range = &ranges[axes.extents.len() - 1];
            let window = c.with_layout(axes.operands[0].narrowed(&ranges)?);
            let own = from_start(&mut draft, indices, range.start)?;
            let target = match self.target {
                Target::Rows { padding } => {
                    let padding = padding.filter(|row| range.contains(row)).map(|row| row - range.start);
                    Target::Rows { padding }
                }
                target => target,
            };
            let part = Self::new(target, [&window.layout, &own.layout, &values.layout], self.dtype)?;
            part.steps(&mut draft, [window, own, values])?;
        }
        Ok(draft.finish())
    }
}

/// The indices minus `start`. Indices before it become negative, or larger than every extent.
fn from_start(draft: &mut Draft<'_>, indices: Region, start: usize) -> Result<Region> {
    if start == 0 {
        return Ok(indices);
    }
    let shape = indices.layout.shape();
    let own = draft.temporary(shape, DType::I32)?;
    let back = u32::try_from(start).unwrap_or(u32::MAX).wrapping_neg();
    let back = draft.constant(&[back])?;
    let repeated = back.layout.reshape(&[])?.broadcast_to(shape)?;
    let sum = ElementwiseProblem::of_one_type(
        Elementwise::ADD,
        &[&indices.layout, &repeated],
        &own.layout,
        DType::I32,
    )?;
    draft.call(sum.plan(draft.caps())?, &[own, indices, back.with_layout(repeated)], &[])?;
    Ok(own)
}
