//! The plan of a choice by index: one step, or one for each window.

use super::kernel::LANES;
use super::problem::{GatherDims, GatherProblem, Taken};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::{Kernel, Needs};
use crate::layout::{DType, Layout, dim};
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
            self.step(&mut draft, (self.kernel(caps), Access::Write), self.dims, [c, a, indices])?;
            return Ok(draft.finish());
        }
        let mut axes = self.cut_axes()?;
        let windows = Windows::new(op, &mut axes, caps, Along::Joined)?;
        draft.reason(format!("{} windows along the indexed axis", windows.count()));
        for ranges in windows.blocks() {
            let window = a.with_layout(axes.operands[1].narrowed(&ranges)?);
            let start = ranges[axes.extents.len() - 1].start;
            if start == 0 {
                // An index outside the first window counts as out of range.
                let first = Self::new(self.taken, &window.layout, &self.indices, self.dtype)?;
                first.step(
                    &mut draft,
                    (first.kernel(caps), Access::Write),
                    first.dims,
                    [c, window, indices],
                )?;
            } else {
                let more = Self::of_elements(self.taken, &window.layout, &self.indices, self.dtype)?;
                let dims = GatherDims { start: dim(op, start)?, ..more.dims };
                let kernel = (more.kernel_of_more(caps), Access::Update);
                more.step(&mut draft, kernel, dims, [c, window, indices])?;
            }
        }
        Ok(draft.finish())
    }
}

impl GatherProblem {
    /// C, A and the indices. The axes of the operation are those of C, and then the indexed axis of A.
    fn operands(&self) -> Result<[Operand; 3]> {
        let c = Layout::contiguous(self.taken.op(), &self.taken.shape(&self.a, &self.indices)?)?;
        let of = |at: usize| match self.taken {
            Taken::Positions(axis) if at == axis => (None, Some(0)),
            Taken::Positions(_) => (Some(at), None),
            Taken::Elements(axis) if at == axis => (None, Some(at)),
            Taken::Elements(_) => (Some(at), Some(at)),
            Taken::Rows if at < self.indices.rank() => (None, Some(at)),
            Taken::Rows => (Some(1), None),
        };
        let of_a = (0..c.rank()).map(|at| of(at).0).chain([Some(self.taken.axis())]);
        let of_indices = (0..c.rank()).map(|at| of(at).1);
        let name = if self.taken == Taken::Rows { "the table" } else { "a" };
        Ok([
            Operand::written("the output", self.dtype, c),
            Operand::read(name, self.dtype, self.a).along(of_a),
            Operand::read("the indices", DType::I32, self.indices).along(of_indices),
        ])
    }

    fn step(
        &self,
        draft: &mut Draft<'_>,
        (kernel, of_c): (Kernel, Access),
        dims: GatherDims,
        [c, a, indices]: [Region; 3],
    ) -> Result<()> {
        let caps = draft.caps();
        // Only the device knows which elements are read. At most as many as C has are counted.
        let a = if c.layout.len() < a.layout.len() { a.touched_like(c.layout) } else { a };
        draft.step(NewStep {
            tile: self.tile(caps),
            blocks: u64::from(self.units(caps).div_ceil(LANES)),
            dims: Dims::of(&dims),
            ..NewStep::of(
                kernel,
                Needs::of(LANES, 0),
                &[(c, of_c), (a, Access::Read), (indices, Access::Read)],
            )
        })
    }
}
