//! The plan of a copy into a view: one step.

use super::kernel::LANES;
use super::problem::{CopyProblem, OP};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::Needs;
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Problem, Time};

impl Problem for CopyProblem {
    /// One step. The kernel depends on whether rows are whole words.
    ///
    /// Operands: C, A.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(OP, &[], caps);
        let [c, a] = self.layouts()?;
        let c = draft.operand("the output", self.dtype, c, Access::Write);
        let a = draft.operand("a", self.dtype, a, Access::Read);
        draft.step(NewStep {
            kernel: self.kernel(caps),
            tile: self.tile(),
            needs: Needs { bindings: 2, invocations: LANES, workgroup_bytes: 0 },
            blocks: u64::from(self.dims.units.div_ceil(LANES)),
            dims: Dims::of(&self.dims),
            args: &[(c, Access::Write), (a, Access::Read)],
            flops: Flops::default(),
            time: Time::Roofline,
        })?;
        Ok(draft.finish())
    }
}
