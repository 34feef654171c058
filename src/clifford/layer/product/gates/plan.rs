//! The plan of the gates: one step.

use super::kernel::LANES;
use super::problem::{GatesProblem, OP};
use crate::caps::Caps;
use crate::kernel::Needs;
use crate::layout::{DType, Layout};
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Problem};
use crate::{Error, Result};

impl Problem for GatesProblem {
    /// One step. Operands: the gates (row, feature) in f32, then the scalars of x and of y (row, feature).
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let Self { dims, gate, dtype } = self;
        let shape = [dims.rows, dims.features].map(|n| n as usize);
        if shape.contains(&0) {
            return Err(Error::shape(OP, "there must be at least one row and one feature", &shape));
        }
        let mut draft = Draft::new(OP, &[], caps);
        let plane = Layout::contiguous(OP, &shape)?;
        let plane = draft.operand("the gates", DType::F32, plane, Access::Write);
        let [x, y] = self.layouts()?;
        let x = draft.operand("the scalars of x", *dtype, x, Access::Read);
        let y = draft.operand("the scalars of y", *dtype, y, Access::Read);
        let [gate_flops, _] = gate.flops();
        let flops = (2 * gate_flops + 1) as f64 * f64::from(dims.rows) * f64::from(dims.features);
        let units = u64::from(dims.rows) * u64::from(dims.units);
        draft.step(NewStep {
            tile: format!("{LANES} invocations of 4, {gate} of both operands, {dtype}"),
            blocks: units.div_ceil(u64::from(LANES)),
            dims: Dims::of(dims),
            flops: Flops::of_f32(flops),
            ..NewStep::of(
                self.kernel(caps),
                Needs::of(LANES, 0),
                &[(plane, Access::Write), (x, Access::Read), (y, Access::Read)],
            )
        })?;
        Ok(draft.finish())
    }
}
