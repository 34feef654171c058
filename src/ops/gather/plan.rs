//! The plan of a choice by index: one step, or one for each window.

use super::kernel::{LANES, units};
use super::problem::{GatherProblem, Taken};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::Needs;
use crate::layout::{DType, Layout};
use crate::ops::windows::JOINS;
use crate::plan::{
    Access, Along, CutAxes, Dims, Draft, InWindows, Joins, NewStep, Operand, Plan, Region, Windows,
};
use std::ops::Range;

impl InWindows for GatherProblem {
    const JOINS: Joins = JOINS;

    /// The axes of C, and then the indexed axis of A. The step of a window along that axis takes the elements with indices in
    /// the window.
    fn cut_axes(&self) -> Result<CutAxes> {
        let c = self.taken.shape(&self.a, &self.indices)?;
        let extents: Vec<usize> = c.into_iter().chain([self.a.shape()[self.taken.axis()]]).collect();
        Ok(CutAxes { joined: 1, ..CutAxes::of(&extents, self.operands()?) })
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        Self::new(self.taken, &layouts[1], &layouts[2], self.dtype)
    }

    /// One step, or one for each window. The kernel depends on whether the rows of C are whole vectors of rows of A.
    ///
    /// Operands: C, A, the indices.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let op = self.taken.op();
        let mut draft = Draft::new(op, &[], caps);
        let [c, a, indices] = self.operands()?.map(|of| draft.region(&of));
        if a.bound_bytes() <= caps.limits.binding_bytes {
            self.step(&mut draft, [c, a, indices])?;
            return Ok(draft.finish());
        }
        let mut axes = self.cut_axes()?;
        let windows = Windows::new(op, &mut axes, caps, Along::Joined)?;
        draft.reason(format!("{} windows along the indexed axis", windows.count()));
        for ranges in windows.blocks() {
            let window = a.with_layout(axes.operands[1].narrowed(&ranges)?);
            // An index outside the first window counts as out of range.
            let start = ranges[axes.extents.len() - 1].start;
            let part = Self::from_start(self.taken, (&window.layout, start), &self.indices, self.dtype)?;
            part.step(&mut draft, [c, window, indices])?;
        }
        Ok(draft.finish())
    }
}

impl GatherProblem {
    /// C, A and the indices. The axes of the operation are those of C, and then the indexed axis of A.
    fn operands(&self) -> Result<[Operand; 3]> {
        let c = self.c()?;
        let of_a = (0..c.rank()).map(|at| self.axes_along(at)[0]).chain([Some(self.taken.axis())]);
        let of_indices = (0..c.rank()).map(|at| self.axes_along(at)[1]);
        let name = if self.taken == Taken::Rows { "the table" } else { "a" };
        Ok([
            Operand::written("the output", self.dtype, c),
            Operand::read(name, self.dtype, self.a).along(of_a),
            Operand::read("the indices", DType::I32, self.indices).along(of_indices),
        ])
    }

    fn step(&self, draft: &mut Draft<'_>, [c, a, indices]: [Region; 3]) -> Result<()> {
        let (caps, dims) = (draft.caps(), self.dims()?);
        // Only the device knows which elements are read. At most as many as C has are counted.
        let a = if c.layout.len() < a.layout.len() { a.touched_like(c.layout) } else { a };
        let of_c = if self.start > 0 { Access::Update } else { Access::Write };
        draft.step(NewStep {
            tile: self.tile(&dims, caps),
            blocks: u64::from(units(&dims, caps).div_ceil(LANES)),
            dims: Dims::of(&dims.0),
            ..NewStep::of(
                self.kernel(&dims, caps),
                Needs::of(LANES, 0),
                &[(c, of_c), (a, Access::Read), (indices, Access::Read)],
            )
        })
    }
}
