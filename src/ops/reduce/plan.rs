//! The plan of a reduction: one step, or two if there are too few results to occupy a device. An operand that is larger than a
//! binding is reduced in windows.

use super::axes::split;
use super::kernel::{COLUMN_LANES, LANES, Stage};
use super::problem::{Across, ReduceDims, ReduceProblem, Steps};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::{self, Needs};
use crate::layout::{DType, Layout, dim};
use crate::ops::copy::copy_part;
use crate::ops::subgroups::{lanes_of_row, subgroup};
use crate::ops::vectors::per_vector;
use crate::plan::{Access, CutAxes, Dims, Draft, Flops, InWindows, Joins, NewStep, Operand, Plan, Region};
use std::ops::Range;

/// Workgroups that occupy a device, if each invocation loads several vectors.
const MANY_WORKGROUPS: u32 = 256;
/// The least number of loads of an invocation if the terms of a result are cut into parts.
const LOADS_OF_PART: u32 = 16;
/// The least number of loads of an invocation that are worth a second launch.
const LOADS_WORTH_PARTS: u32 = 128;
/// The number of loads of an invocation up to which further invocations do not share a row.
const LOADS_OF_LANE: u32 = 4;
/// Bytes of a page of memory: a processor prefetches within each page that it reads, not beyond.
const PAGE_BYTES: u64 = 4096;
/// Invocations that occupy a processor.
const MANY_LANES: u32 = 4096;

impl InWindows for ReduceProblem {
    const JOINS: Joins = Joins { copy: Some(copy_part), ..Joins::NONE };

    /// The axes that are kept, and then those that are reduced.
    fn cut_axes(&self) -> Result<CutAxes> {
        let extents: Vec<usize> = self.order().map(|axis| self.a.shape()[axis]).collect();
        let joined = self.reduced.iter().take(extents.len()).filter(|is_reduced| **is_reduced).count();
        Ok(CutAxes { joined, ..CutAxes::of(&extents, self.operands()?) })
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        let part = Self::along(self.function, &layouts[0], &self.reduced, self.dtype)?;
        Ok(Self { steps: self.steps, ..part })
    }

    /// One step, if there are enough results to occupy the device or few elements; otherwise a step for parts of the terms, and
    /// one that joins them. With windows, each window has these steps; or there is a step for the terms of each window, and one
    /// that joins them.
    ///
    /// Operands: A, the result.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let op = self.function.op();
        let dims = self.dims_on(caps);
        let mut draft = Draft::new(op, &[], caps);
        let [(a, _), (c, _)] = self.operands()?.map(|of| draft.add(&of));
        if a.bound_bytes() > caps.limits.binding_bytes {
            self.join_windows(&mut draft, [a, c])?;
            return Ok(draft.finish());
        }
        if dims.parts == 1 {
            self.first(&mut draft, Stage::Whole, &dims, [a, c])?;
            return Ok(draft.finish());
        }
        let words = self.function.combination(self.dtype).words as usize;
        let parts = draft.temporary(&[self.results, dims.parts as usize, words], DType::I32)?;
        draft.reason(format!(
            "{} results would not occupy the device: their terms are cut in parts",
            self.results
        ));
        self.first(&mut draft, Stage::Parts, &dims, [a, parts])?;
        self.join(&mut draft, dims, [parts, c])?;
        Ok(draft.finish())
    }
}

impl ReduceProblem {
    /// The axes: those that are kept, then those that are reduced.
    fn order(&self) -> impl Iterator<Item = usize> {
        let of = |which: bool| (0..self.a.rank()).filter(move |&axis| self.reduced[axis] == which);
        of(false).chain(of(true))
    }

    /// A and the result.
    fn operands(&self) -> Result<[Operand; 2]> {
        let (kept, _) = split(&self.a, &self.reduced);
        let c = Layout::contiguous(self.function.op(), &kept)?;
        Ok([
            Operand::read("the operand", self.dtype, self.a).along(self.order().map(Some)),
            Operand::written("the result", self.function.result_type(self.dtype), c),
        ])
    }

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

    /// The uniform of the first step.
    pub(super) fn dims_on(&self, caps: &Caps) -> ReduceDims {
        let d = self.dims;
        // The number of parts that multiplies the existing invocations to `wanted`. An invocation of a part has at
        // least `least` loads.
        let parts_of = |wanted: u32, there: u32, loads: u32, least: u32| {
            let parts = (wanted / there.max(1)).min(loads / least).max(1);
            if loads < LOADS_WORTH_PARTS || self.steps == Steps::One { 1 } else { parts }
        };
        match self.across {
            Across::Line => {
                let most = lanes_of_row(caps, LANES, d.rows);
                let loads = d.length.div_ceil(4 * self.load_quads()) * d.lines;
                let lanes = if caps.machine.is_software() {
                    self.lanes_in_ranges(loads)
                } else {
                    loads.div_ceil(LOADS_OF_LANE).next_power_of_two()
                };
                let lanes = lanes.min(most);
                let parts = if lanes == most {
                    parts_of(MANY_WORKGROUPS, d.rows, loads / most, LOADS_OF_PART)
                } else {
                    1
                };
                ReduceDims { lanes, parts, ..d }
            }
            Across::Columns => {
                let lanes = d.axes[0][0].div_ceil(4 * self.quads(caps));
                // The state of a part has at most a sixteenth of the bytes of its elements.
                let words = self.function.combination(self.dtype).words;
                let least = LOADS_OF_PART.max(4 * words * per_vector(self.dtype));
                let parts =
                    parts_of(MANY_WORKGROUPS * COLUMN_LANES, lanes * d.rows, d.length * d.lines, least);
                ReduceDims { lanes, parts, ..d }
            }
        }
    }

    /// The invocations that share a row of this many loads on a processor: one for each page of memory, or more if these would
    /// not occupy it.
    fn lanes_in_ranges(&self, loads: u32) -> u32 {
        let d = &self.dims;
        let bytes = u64::from(d.length) * u64::from(d.lines) * self.dtype.size() as u64;
        let pages = u32::try_from(bytes / PAGE_BYTES).expect("an operand has fewer bytes than 2^33");
        let shared = (MANY_LANES / d.rows.max(1)).min(loads / LOADS_OF_LANE);
        pages.max(shared).max(1).next_power_of_two()
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
