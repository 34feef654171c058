//! The plan of a softmax: one step.

use super::problem::{LANES, OP, SoftmaxDims, SoftmaxProblem};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::{self, Needs};
use crate::layout::Layout;
use crate::ops::subgroups::subgroup;
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Problem, Time};

/// The approximate number of operations per element: two exponentials.
const FLOPS: f64 = 40.0;

impl Problem for SoftmaxProblem {
    /// One step. The kernel has variants for contiguous, aligned rows.
    ///
    /// Operands: A, the result.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let op = OP;
        let (d, lanes) = (self.dims_on(caps), kernel::workgroup_size(LANES, caps));
        let mut draft = Draft::new(op, &[], caps);
        let a = draft.operand("the operand", self.dtype, self.layout()?, Access::Read);
        let length = d.length as usize;
        let c = Layout::contiguous(op, &[d.rows as usize * length])?;
        let c = draft.operand("the result", self.dtype, c, Access::Write);
        let elements = f64::from(d.rows) * f64::from(d.length);
        draft.step(NewStep {
            kernel: self.kernel(caps),
            tile: format!("{lanes} invocations, {} a row, {}", d.lanes, self.dtype),
            needs: Needs {
                bindings: 2,
                invocations: lanes,
                workgroup_bytes: (4 * lanes / subgroup(caps, LANES).unwrap_or(1)).next_multiple_of(16),
            },
            blocks: u64::from(d.rows.div_ceil(lanes / d.lanes)),
            dims: Dims::of(&d),
            args: &[(a, Access::Read), (c, Access::Write)],
            flops: Flops::of_f32(elements * FLOPS),
            time: Time::Roofline,
        })?;
        Ok(draft.finish())
    }
}

impl SoftmaxProblem {
    /// The uniform for a device. If its workgroups allow fewer than `lanes` invocations, fewer invocations share a row.
    fn dims_on(&self, caps: &Caps) -> SoftmaxDims {
        SoftmaxDims { lanes: self.dims.lanes.min(kernel::workgroup_size(LANES, caps)), ..self.dims }
    }
}
