//! The plan of a rotation: one step.

use super::kernel::LANES;
use super::problem::{RotaryDims, RotaryProblem};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::Needs;
use crate::layout::{DType, Layout};
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Problem, ScalarParameter, Time};
use std::mem::offset_of;

/// The operations of a pair: four products, a sum and a difference.
const FLOPS_OF_PAIR: f64 = 6.0;

impl Problem for RotaryProblem {
    /// One step. The kernel depends on the pairs, the type, and whether rows are whole vectors.
    ///
    /// Operands: x, the result, the table, and the tensor that has the first position of the table, if one has it. Otherwise this is a
    /// scalar. If there are too few positions after it, the last ones are taken.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let op = self.pass.op();
        let start = [ScalarParameter::u32("start")];
        let mut draft = Draft::new(op, if self.at.is_some() { &[] } else { &start }, caps);
        let a = draft.operand("x", self.dtype, self.a, Access::Read);
        let c = Layout::contiguous(op, &[self.a.len()])?;
        let c = draft.operand("the result", self.dtype, c, Access::Write);
        let table = draft.operand("the table", DType::F32, self.of.layout(op)?, Access::Read);
        let d = self.dims();
        let read = Layout::contiguous(op, &[(self.of.positions - d.last as usize) * self.of.rotary_dims])?;
        let mut args = vec![(a, Access::Read), (c, Access::Write), (table.touched_like(read), Access::Read)];
        let mut dims = Dims::of(&d);
        match self.at {
            Some(at) => {
                args.push((draft.operand("the position", DType::I32, at, Access::Read), Access::Read));
            }
            None => dims = dims.scalar(offset_of!(RotaryDims, start), 0),
        }
        draft.step(NewStep {
            kernel: self.kernel(caps),
            tile: format!("{LANES} invocations, {} elements each, {}", 8 * self.quads(), self.dtype),
            needs: Needs {
                bindings: if self.at.is_some() { 4 } else { 3 },
                invocations: LANES,
                workgroup_bytes: 0,
            },
            blocks: u64::from(d.units.div_ceil(LANES)),
            dims,
            args: &args,
            flops: Flops::of_f32(FLOPS_OF_PAIR * f64::from(self.rows()) * f64::from(d.pairs)),
            time: Time::Roofline,
        })?;
        Ok(draft.finish())
    }
}
