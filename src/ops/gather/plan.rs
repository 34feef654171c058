//! The plan of a choice by index: one step, or one for each window.

use super::kernel::LANES;
use super::problem::{GatherDims, GatherProblem, Taken};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::{Kernel, Needs};
use crate::layout::{DType, Layout, dim};
use crate::ops::windows::JOINS;
use crate::plan::{
    Access, Along, CutAxes, CutOperand, Dims, Draft, Flops, Form, InWindows, NewStep, Plan, Problem, Region,
    Time, Windows, plan_in_windows,
};
use std::ops::Range;

impl Problem for GatherProblem {
    /// One step, or one for each window. The kernel depends on whether the rows of C are whole vectors of rows of A.
    ///
    /// Operands: C, A, the indices.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        plan_in_windows(self, caps, JOINS)
    }
}

impl InWindows for GatherProblem {
    /// The axes of C, and then the indexed axis of A. The step of a window along that axis takes the elements with indices in
    /// the window.
    fn cut_axes(&self) -> Result<CutAxes> {
        let c = self.output()?;
        let (rank, indexed) = (c.rank(), self.taken.axis());
        let (mut of_a, mut of_indices) = (vec![None; rank], vec![None; rank]);
        for at in 0..rank {
            (of_a[at], of_indices[at]) = match self.taken {
                Taken::Positions(axis) if at == axis => (None, Some(0)),
                Taken::Positions(_) => (Some(at), None),
                Taken::Elements(axis) if at == axis => (None, Some(at)),
                Taken::Elements(_) => (Some(at), Some(at)),
                Taken::Rows if at < self.indices.rank() => (None, Some(at)),
                Taken::Rows => (Some(1), None),
            };
        }
        of_a.push(Some(indexed));
        of_indices.push(None);
        let of_c = (0..rank).map(Some).chain([None]).collect();
        Ok(CutAxes {
            extents: c.shape().iter().copied().chain([self.a.shape()[indexed]]).collect(),
            joined: 1,
            operands: vec![
                CutOperand::new(Form::Dense, c, self.dtype, of_c),
                CutOperand::new(Form::View, self.a, self.dtype, of_a),
                CutOperand::new(Form::View, self.indices, DType::I32, of_indices),
            ],
            whole: None,
        })
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        Self::new(self.taken, &layouts[1], &layouts[2], self.dtype)
    }

    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let op = self.taken.op();
        let mut draft = Draft::new(op, &[], caps);
        let layout = self.output()?;
        let c = draft.operand("the output", self.dtype, layout, Access::Write);
        let name = if self.taken == Taken::Rows { "the table" } else { "a" };
        let a = draft.operand(name, self.dtype, self.a, Access::Read);
        let indices = draft.operand("the indices", DType::I32, self.indices, Access::Read);
        if a.bound_bytes() <= caps.limits.binding_bytes {
            self.step(&mut draft, (self.kernel(caps), Access::Write), self.dims, [c, a, indices])?;
            return Ok(draft.finish());
        }
        let mut axes = self.cut_axes()?;
        let windows = Windows::new(op, &mut axes, caps, Along::Joined)?;
        draft.reason(format!("{} windows along the indexed axis", windows.count()));
        for ranges in windows.blocks() {
            let window = a.with_layout(axes.operands[1].narrowed(&ranges)?);
            let start = ranges[layout.rank()].start;
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
    fn output(&self) -> Result<Layout> {
        Layout::contiguous(self.taken.op(), &self.taken.shape(&self.a, &self.indices)?)
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
            kernel,
            tile: self.tile(caps),
            needs: Needs { bindings: 3, invocations: LANES, workgroup_bytes: 0 },
            blocks: u64::from(self.units(caps).div_ceil(LANES)),
            dims: Dims::of(&dims),
            args: &[(c, of_c), (a, Access::Read), (indices, Access::Read)],
            flops: Flops::default(),
            time: Time::Roofline,
        })
    }
}
