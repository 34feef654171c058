//! The plan of a padding: one step.

use super::problem::{OP, PadDims, PadProblem};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::{Kernel, Needs};
use crate::layout::Layout;
use crate::ops::packing::{per_word, quad_unit, quad_variant};
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Problem, ScalarParameter, Time};
use std::mem::offset_of;

/// Invocations per workgroup.
const LANES: u32 = 64;

impl Problem for PadProblem {
    /// One step.
    ///
    /// Operands: C, A. Scalars: the bits of the value.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(OP, &[ScalarParameter::u32("value")], caps);
        let layout = Layout::contiguous(OP, &[self.dims.count as usize])?;
        let c = draft.operand("the output", self.dtype, layout, Access::Write);
        let a = draft.operand("a", self.dtype, self.a, Access::Read);
        draft.step(NewStep {
            kernel: self.kernel(caps),
            tile: format!("{LANES} invocations, four elements each, {}", self.dtype),
            needs: Needs { bindings: 2, invocations: LANES, workgroup_bytes: 0 },
            blocks: u64::from(self.dims.count.div_ceil(4 * LANES)),
            dims: Dims::of(&self.dims).scalar(offset_of!(PadDims, value), 0),
            args: &[(c, Access::Write), (a, Access::Read)],
            flops: Flops::default(),
            time: Time::Roofline,
        })?;
        Ok(draft.finish())
    }
}

impl PadProblem {
    /// The kernel with the parameters of the type.
    fn kernel(&self, caps: &Caps) -> Kernel {
        Kernel::new("ops/pad")
            .dims(caps, size_of::<PadDims>())
            .param("c_unit", quad_unit(self.dtype))
            .param("PER_WORD", per_word(self.dtype))
            .param("WHOLE", self.dims.rank == 1 || self.dims.axes[0][0].is_multiple_of(4))
            .param("LANES", LANES)
            .slot("save_bits_c", quad_variant(self.dtype))
    }
}
