//! The plan of normal numbers: one step, or one for each window.

use super::problem::{NormalDims, NormalProblem, OP};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::Kernel;
use crate::layout::{Layout, NORMAL_TAG, dim, normal_table};
use crate::ops::packing::{constant, plan_of_quads};
use crate::ops::windows::JOINS;
use crate::plan::{
    Access, CutAxes, Dims, Draft, Flops, InWindows, Joins, Operand, PHILOX, Plan, ScalarParameter,
};
use std::mem::offset_of;
use std::ops::Range;

/// Integer operations that turn a word into a number, without rounding: as for a generated operand.
const ENTRY: f64 = 21.0;

impl InWindows for NormalProblem {
    const JOINS: Joins = JOINS;

    fn cut_axes(&self) -> Result<CutAxes> {
        Ok(CutAxes::of(&[self.count as usize], vec![self.output()]))
    }

    fn part(&self, _: &[Layout], ranges: &[Range<usize>]) -> Result<Self> {
        let Range { start, end } = ranges[0];
        // Windows begin at aligned offsets, so there are whole groups of four before each.
        Ok(Self { first: self.first + dim(OP, start / 4)?, ..Self::new(end - start, self.dtype)? })
    }

    /// One step, or one for each window.
    ///
    /// Operands: the output. Scalars: the lower and the upper word of the seed.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let scalars = ["seed_low", "seed_high"].map(ScalarParameter::u32);
        let mut draft = Draft::new(OP, &scalars, caps);
        let mut args = draft.operands(&[self.output()]);
        args.push((draft.constant(normal_table())?, Access::Read));
        let count = f64::from(self.count);
        let calls = f64::from(self.count.div_ceil(4));
        let dims = Dims::of(&NormalDims { count: self.count, first: self.first, ..NormalDims::default() })
            .scalar(offset_of!(NormalDims, seed_low), 0)
            .scalar(offset_of!(NormalDims, seed_high), 1);
        let flops = Flops { f32: count, integer: PHILOX * calls + ENTRY * count, ..Flops::default() };
        let kernel = Kernel::new("ops/normal")
            .dims::<NormalDims>(caps)
            .param("TO", constant(self.dtype))
            .param("TAG", NORMAL_TAG);
        plan_of_quads(draft, &args, kernel, (self.count, self.dtype), dims, flops)
    }
}

impl NormalProblem {
    fn output(&self) -> Operand {
        Operand::written("the output", self.dtype, Layout::line(self.count as usize))
    }
}
