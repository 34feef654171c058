//! The plan of ones and zeros for ids: one step.

use super::problem::{OP, OneHotDims, OneHotProblem};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::{Kernel, Needs};
use crate::layout::{DType, Layout};
use crate::ops::packing::{quad_unit, quad_variant};
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Problem, Time};

/// Invocations per workgroup.
const LANES: u32 = 64;

impl Problem for OneHotProblem {
    /// One step.
    ///
    /// Operands: C, the ids.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(OP, &[], caps);
        let layout = Layout::contiguous(OP, &[self.dims.count as usize])?;
        let c = draft.operand("the output", self.dtype, layout, Access::Write);
        let ids = draft.operand("the ids", DType::I32, self.ids, Access::Read);
        draft.step(NewStep {
            kernel: Kernel::new("ops/one_hot")
                .dims(caps, size_of::<OneHotDims>())
                .param("c_unit", quad_unit(self.dtype))
                .param("LANES", LANES)
                .slot("save_bits_c", quad_variant(self.dtype)),
            tile: format!("{LANES} invocations, four elements each, {}", self.dtype),
            needs: Needs { bindings: 2, invocations: LANES, workgroup_bytes: 0 },
            blocks: u64::from(self.dims.count.div_ceil(4 * LANES)),
            dims: Dims::of(&self.dims),
            args: &[(c, Access::Write), (ids, Access::Read)],
            flops: Flops::default(),
            time: Time::Roofline,
        })?;
        Ok(draft.finish())
    }
}
