//! The plan of a cumulative sum: for each window one step, or three if there are too few rows to occupy the device.

use super::kernel::{COLUMN_LANES, LANES, Stage};
use super::problem::{CumsumDims, CumsumProblem, OP};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::{self, Needs};
use crate::layout::{DType, Layout};
use crate::ops::lines::Across;
use crate::ops::windows::JOINS;
use crate::plan::{
    Access, CutAxes, Dims, Draft, Flops, InWindows, Joins, NewStep, Operand, Plan, Problem, Region,
};
use std::ops::Range;

/// Workgroups that occupy a device.
const MANY_WORKGROUPS: u32 = 256;
/// The least number of iterations of an invocation in a part of a row.
const TURNS_OF_PART: u32 = 4;
/// The least number of elements of a part.
const LEAST_PART: u32 = 1024;

/// How the rows are cut.
#[derive(Clone, Copy)]
struct Cut {
    lanes: u32,
    parts: u32,
    chunk: u32,
}

impl InWindows for CumsumProblem {
    const JOINS: Joins = JOINS;

    fn cut_axes(&self) -> Result<CutAxes> {
        Ok(CutAxes::except(self.axis, self.a.shape(), self.operands()))
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        Self::new(&layouts[0], self.axis, self.dtype)
    }

    /// One step, if there are enough rows to occupy the device or they are short. Otherwise rows are cut into parts: a step
    /// computes the sums of the parts, another their cumulative sums, and a third the results.
    ///
    /// Operands: A, the result.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(OP, &[], caps);
        let [read, written] = self.operands().map(|of| draft.add(&of));
        let cut = self.cut(caps);
        let dims = self.dims(cut.lanes, cut.parts, cut.chunk);
        if cut.parts == 1 {
            self.step(&mut draft, Stage::Whole, &dims, &[read, written])?;
            return Ok(draft.finish());
        }
        let rows = self.a.len() / self.lines.length() as usize;
        draft.reason(format!("{rows} rows would not occupy the device: they are cut in parts"));
        let shape = [rows, cut.parts as usize];
        let totals = draft.temporary(&shape, DType::F32)?;
        self.step(&mut draft, Stage::Totals, &dims, &[read, (totals, Access::Write)])?;
        let sums = draft.temporary(&shape, DType::F32)?;
        let flat = sums.with_layout(Layout::contiguous(OP, &[rows * cut.parts as usize])?);
        let of_parts = CumsumProblem::new(&totals.layout, 1, DType::F32)?;
        draft.call(of_parts.plan(caps)?, &[totals, flat], &[])?;
        self.step(&mut draft, Stage::Rest, &dims, &[read, written, (sums, Access::Read)])?;
        Ok(draft.finish())
    }
}

impl CumsumProblem {
    /// The operand and the result.
    fn operands(&self) -> [Operand; 2] {
        let read = Operand::read("the operand", self.dtype, self.a);
        [read, Operand::written("the result", self.dtype, self.a.dense())]
    }

    /// How rows are cut on a device.
    fn cut(&self, caps: &Caps) -> Cut {
        let (length, rows, width) = (self.lines.length(), self.lines.rows(), 4 * self.quads());
        let (lanes, members, turn, wanted) = match self.lines.across {
            Across::Row => {
                let of_lane = width * self.groups();
                let lanes = length.div_ceil(of_lane).max(1).next_power_of_two();
                // On software devices, barriers cost more time than further invocations save.
                let is_parallel = caps.machine.busy_invocations > 1;
                let lanes = if is_parallel { lanes.min(kernel::workgroup_size(LANES, caps)) } else { 1 };
                (lanes, rows, lanes * of_lane, MANY_WORKGROUPS * LANES / lanes)
            }
            Across::Columns => {
                let lanes = self.lines.columns().div_ceil(width);
                (lanes, lanes * rows, 1, MANY_WORKGROUPS * COLUMN_LANES)
            }
        };
        let least = (TURNS_OF_PART * turn).max(LEAST_PART);
        let parts = (wanted / members.max(1)).min(length / least);
        if parts < 4 {
            return Cut { lanes, parts: 1, chunk: length.next_multiple_of(width) };
        }
        let chunk = length.div_ceil(parts).next_multiple_of(turn);
        Cut { lanes, parts: length.div_ceil(chunk), chunk }
    }

    fn step(
        &self,
        draft: &mut Draft<'_>,
        stage: Stage,
        d: &CumsumDims,
        args: &[(Region, Access)],
    ) -> Result<()> {
        let caps = draft.caps();
        let most = kernel::workgroup_size(LANES, caps);
        let members = u64::from(d.rows) * u64::from(d.parts);
        let (blocks, invocations, workgroup_bytes, shared_by) = match self.lines.across {
            Across::Row => (members.div_ceil((most / d.lanes).into()), most, 4 * most, "a row"),
            Across::Columns => {
                let groups = members * u64::from(d.lanes);
                (groups.div_ceil(COLUMN_LANES.into()), COLUMN_LANES, 0, "columns")
            }
        };
        draft.step(NewStep {
            tile: format!("{invocations} invocations, {} {shared_by}, {}", d.lanes, self.dtype),
            blocks,
            dims: Dims::of(d),
            flops: Flops::of_f32(2.0 * self.a.len() as f64),
            ..NewStep::of(
                self.kernel(stage, caps),
                Needs::of(invocations, workgroup_bytes.next_multiple_of(16)),
                args,
            )
        })
    }
}
