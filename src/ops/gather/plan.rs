//! The plan of a choice by index: one step.

use super::kernel::LANES;
use super::problem::{GatherProblem, Taken};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::Needs;
use crate::layout::{DType, Layout};
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Problem, Time};

impl Problem for GatherProblem {
    /// One step. The kernel depends on whether the rows of C are whole vectors of rows of A.
    ///
    /// Operands: C, A, the indices.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let op = self.taken.op();
        let mut draft = Draft::new(op, &[], caps);
        let shape = self.taken.shape(&self.a, &self.indices)?;
        let layout = Layout::contiguous(op, &shape)?;
        let c = draft.operand("the output", self.dtype, layout, Access::Write);
        let name = if self.taken == Taken::Rows { "the table" } else { "a" };
        let a = draft.operand(name, self.dtype, self.a, Access::Read);
        // Which elements are read, only the device knows: as many as C has, if there are more.
        let a = if layout.len() < self.a.len() { a.touched_like(layout) } else { a };
        let indices = draft.operand("the indices", DType::I32, self.indices, Access::Read);
        draft.step(NewStep {
            kernel: self.kernel(caps),
            tile: self.tile(caps),
            needs: Needs { bindings: 3, invocations: LANES, workgroup_bytes: 0 },
            blocks: u64::from(self.units(caps).div_ceil(LANES)),
            dims: Dims::of(&self.dims),
            args: &[(c, Access::Write), (a, Access::Read), (indices, Access::Read)],
            flops: Flops::default(),
            time: Time::Roofline,
        })?;
        Ok(draft.finish())
    }
}
