//! The plan of ones and zeros for ids: one step, or one for each window.

use super::problem::{OP, OneHotDims, OneHotProblem};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::{Kernel, Needs};
use crate::layout::{DType, Layout};
use crate::ops::packing::{quad_unit, quad_variant};
use crate::ops::windows::JOINS;
use crate::plan::{CutAxes, Dims, Draft, InWindows, Joins, NewStep, Operand, Plan};
use std::ops::Range;

/// Invocations per workgroup.
const LANES: u32 = 64;

impl InWindows for OneHotProblem {
    const JOINS: Joins = JOINS;

    /// The axes of the ids.
    fn cut_axes(&self) -> Result<CutAxes> {
        Ok(CutAxes { whole: Some(self.ids.rank()), ..CutAxes::of(self.ids.shape(), self.operands()?) })
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        Self::new(&layouts[1], self.dims.classes as usize, self.dtype)
    }

    /// One step, or one for each window.
    ///
    /// Operands: C, the ids.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(OP, &[], caps);
        let args = draft.operands(&self.operands()?);
        draft.step(NewStep {
            tile: format!("{LANES} invocations, four elements each, {}", self.dtype),
            blocks: u64::from(self.dims.count.div_ceil(4 * LANES)),
            dims: Dims::of(&self.dims),
            ..NewStep::of(
                Kernel::new("ops/one_hot")
                    .dims::<OneHotDims>(caps)
                    .param("c_unit", quad_unit(self.dtype))
                    .param("LANES", LANES)
                    .slot("save_bits_c", quad_variant(self.dtype)),
                Needs::of(LANES, 0),
                &args,
            )
        })?;
        Ok(draft.finish())
    }
}

impl OneHotProblem {
    /// C and the ids.
    fn operands(&self) -> Result<Vec<Operand>> {
        let shape = [self.ids.shape(), &[self.dims.classes as usize]].concat();
        let c = Layout::contiguous(OP, &shape)?;
        Ok(vec![
            Operand::written("the output", self.dtype, c),
            Operand::read("the ids", DType::I32, self.ids),
        ])
    }
}
