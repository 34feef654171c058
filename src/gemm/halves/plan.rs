//! How an f32 operand is scaled and rounded to f16: in one step.

use super::problem::{HalvesProblem, OP};
use crate::caps::Caps;
use crate::kernel::Needs;
use crate::layout::{DType, Layout};
use crate::plan::{Access, Bound, Dims, Draft, Flops, NewStep, Plan, Prediction, Problem, Time};
use crate::{Error, Result};

impl Problem for HalvesProblem {
    /// There is one kernel, which differs by the order of memory.
    ///
    /// Operands: the f32 operand, its halves, the exponents.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let shape = self.shape();
        if shape.contains(&0) {
            return Err(Error::shape(OP, "there must be something to convert", &shape));
        }
        let mut draft = Draft::new(OP, &[], caps);
        let x = draft.operand("the operand", DType::F32, self.layout()?, Access::Read);
        let values = Layout::contiguous(OP, &shape)?;
        let values = draft.operand("the halves", DType::F16, values, Access::Write);
        let exponents = Layout::contiguous(OP, &shape[..1])?;
        let exponents = draft.operand("the exponents", DType::I32, exponents, Access::Write);
        let [rows_at_once, lanes] = self.tile(caps);
        let entries = f64::from(self.dims.rows) * f64::from(self.dims.k);
        // Read twice, once for the largest of a row.
        let read = 2.0 * entries * DType::F32.size() as f64;
        let written = values.layout.len() as f64 * DType::F16.size() as f64;
        draft.step(NewStep {
            kernel: self.kernel([rows_at_once, lanes], caps),
            tile: format!("{rows_at_once} rows, {lanes} invocations, {} parts", self.parts),
            needs: Needs {
                bindings: 3,
                invocations: lanes,
                workgroup_bytes: (4 * lanes).next_multiple_of(16),
            },
            blocks: u64::from(self.dims.rows.div_ceil(rows_at_once)),
            dims: Dims::of(&self.dims),
            args: &[(x, Access::Read), (values, Access::Write), (exponents, Access::Write)],
            flops: Flops::of_f32(entries * f64::from(1 + 2 * self.parts)),
            time: Time::Predicted(Prediction {
                seconds: (read + written) / caps.machine.bytes,
                bound: Bound::Memory,
            }),
        })?;
        Ok(draft.finish())
    }
}
