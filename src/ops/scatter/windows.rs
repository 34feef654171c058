//! Windows of an addition to indexed elements: along the axes within a slot, and along the indexed axis.

use super::problem::{ScatterProblem, Target};
use crate::Result;
use crate::caps::Caps;
use crate::layout::{DType, Layout};
use crate::ops::elementwise::operation::Elementwise;
use crate::ops::elementwise::problem::ElementwiseProblem;
use crate::ops::windows::JOINS;
use crate::plan::{Along, CutAxes, Draft, Form, InWindows, Joins, Operand, Plan, Problem, Region, Windows};
use std::ops::Range;

impl InWindows for ScatterProblem {
    const JOINS: Joins = JOINS;

    /// The axes that C and the values share, and then the indexed axis.
    fn cut_axes(&self) -> Result<CutAxes> {
        let [c, _, values] = self.layouts;
        let indexed = self.target.axis();
        // Elements may have fewer indices than C has positions.
        let extent = |axis: usize| match self.target {
            Target::Elements(_) => values.shape()[axis],
            Target::Rows { .. } | Target::Positions(_) => c.shape()[axis],
        };
        let extents: Vec<usize> = self.shared().map(extent).chain([c.shape()[indexed]]).collect();
        Ok(CutAxes { joined: 1, ..CutAxes::of(&extents, self.operands()) })
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        Self::new(self.target, [&layouts[0], &layouts[1], &layouts[2]], self.dtype)
    }

    /// Sorts blocks of indices, merges them pairwise, finds the first index of each slot, and adds.
    ///
    /// Operands: C, the indices, the values.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let op = self.target.op();
        let mut draft = Draft::new(op, &[], caps);
        let [c, indices, values] = self.operands().map(|of| draft.region(&of));
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

impl ScatterProblem {
    /// The axes of C but the indexed one.
    fn shared(&self) -> impl Iterator<Item = usize> {
        (0..self.layouts[0].rank()).filter(|&axis| axis != self.target.axis())
    }

    /// C, the indices and the values.
    pub(super) fn operands(&self) -> [Operand; 3] {
        let [c, indices, values] = self.layouts;
        let of_rows = matches!(self.target, Target::Rows { .. });
        let [name_of_indices, name_of_values] =
            if of_rows { ["the ids", "the gradient"] } else { ["the indices", "the values"] };
        let of_indices = |axis: usize| matches!(self.target, Target::Elements(_)).then_some(axis);
        let of_values = |axis: usize| Some(if of_rows { axis - 1 + indices.rank() } else { axis });
        let c = Operand::written("the output", self.dtype, c).accessed(self.access());
        let values = Operand::read(name_of_values, self.dtype, values).in_form(Form::Dense);
        [
            c.along(self.shared().map(Some).chain([Some(self.target.axis())])),
            Operand::read(name_of_indices, DType::I32, indices).along(self.shared().map(of_indices)),
            values.along(self.shared().map(of_values)),
        ]
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
