//! The plan of a copy: one step.

use super::kernel::LANES;
use super::problem::{CopyProblem, Longer};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::Needs;
use crate::layout::DType;
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Problem, Time};

impl Problem for CopyProblem {
    /// One step. The kernel depends on whether rows are whole words, and on whether a position is read from a tensor.
    ///
    /// Operands: C, A; with a position, the tensor that has it.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(self.op(), &[], caps);
        let [c, a] = self.layouts()?;
        let (c, a) = match self.sliced {
            None => (
                draft.operand("the output", self.dtype, c, Access::Write),
                draft.operand("a", self.dtype, a, Access::Read),
            ),
            // The kernel writes one slice of the output, and binds all of it.
            Some((Longer::C, whole)) => (
                draft.operand("the output", self.dtype, whole, Access::Update).touched_like(c),
                draft.operand("a", self.dtype, a, Access::Read),
            ),
            Some((Longer::A, whole)) => (
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
