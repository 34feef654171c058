//! The plan of an operation along an axis: one step.

use super::kernel::subgroup;
use super::problem::{AxisDims, AxisFunction, AxisProblem, LANES};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::{self, Needs};
use crate::layout::Layout;
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Problem, Time};

impl Problem for AxisProblem {
    /// One step. There is one kernel for softmax and one for reductions, with variants for contiguous, aligned rows.
    ///
    /// Operands: A, the result.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let op = self.function.op();
        let (d, lanes) = (self.dims_on(caps), kernel::workgroup_size(LANES, caps));
        let mut draft = Draft::new(op, &[], caps);
        let a = draft.operand("the operand", self.dtype, self.layout()?, Access::Read);
        let length = if self.function == AxisFunction::Softmax { d.length as usize } else { 1 };
        let c = Layout::contiguous(op, &[d.rows as usize * length])?;
        let c = draft.operand("the result", self.dtype, c, Access::Write);
        let elements = f64::from(d.rows) * f64::from(d.length);
        draft.step(NewStep {
            kernel: self.kernel(caps),
            tile: format!("{lanes} invocations, {} a row, {}", d.lanes, self.dtype),
            needs: Needs {
                bindings: 2,
                invocations: lanes,
                workgroup_bytes: (4 * lanes / subgroup(caps).unwrap_or(1)).next_multiple_of(16),
            },
            blocks: u64::from(d.rows.div_ceil(lanes / d.lanes)),
            dims: Dims::of(&d),
            args: &[(a, Access::Read), (c, Access::Write)],
            flops: Flops::of_f32(elements * self.function.flops()),
            time: Time::Roofline,
        })?;
        Ok(draft.finish())
    }
}

impl AxisProblem {
    /// The uniform for a device. If its workgroups allow fewer than `lanes` invocations, fewer invocations share a row.
    fn dims_on(&self, caps: &Caps) -> AxisDims {
        AxisDims { lanes: self.dims.lanes.min(kernel::workgroup_size(LANES, caps)), ..self.dims }
    }
}

impl AxisFunction {
    /// The approximate number of operations per element.
    fn flops(self) -> f64 {
        match self {
            Self::Sum | Self::MaxAbs => 1.0,
            Self::SumSquares => 2.0,
            // Two exponentials.
            Self::Softmax => 40.0,
        }
    }
}
