//! The steps of a reduction: one for the operand, and one that joins parts.

use super::kernel::Stage;
use super::problem::{Across, ReduceDims, ReduceProblem};
use super::shares::{COLUMN_LANES, LANES, LOADS_OF_LANE};
use crate::Result;
use crate::kernel::{self, Needs};
use crate::layout::dim;
use crate::ops::subgroups::{lanes_of_row, subgroup};
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Region};

impl ReduceProblem {
    /// The step that joins `dims.parts` parts of each element of C.
    pub(super) fn join(
        &self,
        draft: &mut Draft<'_>,
        dims: ReduceDims,
        [parts, c]: [Region; 2],
    ) -> Result<()> {
        let rows = dim(self.function.op(), self.results)?;
        let lanes = lanes_of_row(draft.caps(), LANES, rows);
        let joined = ReduceDims {
            rows,
            length: dims.parts,
            lanes: dims.parts.div_ceil(LOADS_OF_LANE).next_power_of_two().min(lanes),
            ..dims
        };
        let flops = f64::from(dims.parts) * self.results as f64;
        self.step(draft, Stage::Join, &joined, [parts, c], flops)
    }

    /// The step that reads the operand.
    pub(super) fn first(
        &self,
        draft: &mut Draft<'_>,
        stage: Stage,
        dims: &ReduceDims,
        [a, c]: [Region; 2],
    ) -> Result<()> {
        self.step(draft, stage, dims, [a, c], self.a.len() as f64 * self.function.flops())
    }

    fn step(
        &self,
        draft: &mut Draft<'_>,
        stage: Stage,
        d: &ReduceDims,
        [a, c]: [Region; 2],
        flops: f64,
    ) -> Result<()> {
        let caps = draft.caps();
        let most = kernel::workgroup_size(LANES, caps);
        let is_columns = stage != Stage::Join && self.across == Across::Columns;
        let parts = if stage == Stage::Join { 1 } else { d.parts };
        let members = u64::from(d.rows) * u64::from(parts);
        let bytes = 4 * self.function.combination(self.dtype).words;
        let shared = (bytes * most / subgroup(caps, LANES).unwrap_or(1)).next_multiple_of(16);
        let (blocks, invocations, workgroup_bytes) = if is_columns {
            ((members * u64::from(d.lanes)).div_ceil(COLUMN_LANES.into()), COLUMN_LANES, 0)
        } else {
            (members.div_ceil((most / d.lanes).into()), most, shared)
        };
        let shared_by = if is_columns { "columns" } else { "a row" };
        draft.step(NewStep {
            tile: format!("{invocations} invocations, {} {shared_by}, {}", d.lanes, self.dtype),
            blocks,
            dims: Dims::of(d),
            flops: Flops::of_f32(flops),
            ..NewStep::of(
                self.kernel(stage, caps),
                Needs::of(invocations, workgroup_bytes),
                &[(a, Access::Read), (c, Access::Write)],
            )
        })
    }
}
