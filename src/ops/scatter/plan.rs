//! The plan of an addition to indexed elements: the indices are sorted, then each slot adds its values in their order.
//! Operands that are larger than a binding are cut into windows (`windows.rs`).

use super::kernel::{CHUNK, LANES, block, merge_kernel, sort_kernel, starts_kernel};
use super::problem::{ScatterDims, ScatterProblem, Target};
use crate::Result;
use crate::kernel::{Kernel, Needs};
use crate::layout::{DType, Layout, dim};
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Region};

/// A step that adds values.
struct Addition<'a> {
    kernel: Kernel,
    dims: ScatterDims,
    args: &'a [(Region, Access)],
    sums: f64,
}

impl ScatterProblem {
    /// How C is accessed.
    pub(super) fn access(&self) -> Access {
        if matches!(self.target, Target::Rows { .. }) { Access::Write } else { Access::Update }
    }

    /// Adds the steps of a C that fits into a binding.
    pub(super) fn steps(&self, draft: &mut Draft<'_>, [c, indices, values]: [Region; 3]) -> Result<()> {
        let (op, caps, access) = (self.target.op(), draft.caps(), self.access());
        let sorted = self.sorted(draft, indices)?;
        let d = &self.dims;
        let chunks = d.count.div_ceil(CHUNK);
        let parts = draft.temporary(&[chunks as usize, d.columns as usize], self.sum())?;
        let units = dim(op, (chunks as usize).saturating_mul(d.slot_units as usize))?;
        self.add(
            draft,
            Addition {
                kernel: self.parts_kernel(caps),
                dims: ScatterDims { units, ..*d },
                args: &[(parts, Access::Write), (values, Access::Read), (sorted, Access::Read)],
                sums: 0.0,
            },
        )?;
        self.add(
            draft,
            Addition {
                kernel: self.add_kernel(caps),
                dims: *d,
                args: &[(c, access), (values, Access::Read), (sorted, Access::Read), (parts, Access::Read)],
                sums: f64::from(d.count) * f64::from(d.columns),
            },
        )
    }

    /// The sorted pairs, followed by the first pair of each slot.
    fn sorted(&self, draft: &mut Draft<'_>, indices: Region) -> Result<Region> {
        let (op, caps) = (self.target.op(), draft.caps());
        let (count, lanes) = (self.sort.count, block(caps));
        let words = 2 * count as usize;
        let pairs = Layout::contiguous(op, &[words])?;
        let whole = draft.temporary(&[words + self.sort.slots as usize + 1], DType::I32)?;
        let merges = count.div_ceil(lanes).next_power_of_two().ilog2();
        // The last merge (or the sort, if there is no merge) writes to the buffer in which the starts follow.
        let mut from = whole.with_layout(pairs);
        let mut to = if merges > 0 { draft.temporary(&[words], DType::I32)? } else { from };
        if merges % 2 == 1 {
            (from, to) = (to, from);
        }
        draft.step(NewStep {
            tile: format!("blocks of {lanes} indices"),
            blocks: u64::from(count.div_ceil(lanes)),
            dims: Dims::of(&self.sort),
            ..NewStep::of(
                sort_kernel(caps),
                Needs::of(lanes, (4 * lanes).next_multiple_of(16)),
                &[(from, Access::Write), (indices, Access::Read)],
            )
        })?;
        for merge in 0..merges {
            let run = lanes << merge;
            draft.step(NewStep {
                tile: format!("runs of {run}"),
                blocks: u64::from(count.div_ceil(LANES)),
                dims: Dims::of(&[count, run, 0, 0]),
                ..NewStep::of(
                    merge_kernel(caps),
                    Needs::of(LANES, 0),
                    &[(to, Access::Write), (from, Access::Read)],
                )
            })?;
            (from, to) = (to, from);
        }
        draft.step(NewStep {
            tile: format!("{LANES} slots"),
            blocks: u64::from((self.sort.slots + 1).div_ceil(LANES)),
            dims: Dims::of(&[count, self.sort.slots, 0, 0]),
            ..NewStep::of(starts_kernel(caps), Needs::of(LANES, 0), &[(whole, Access::Update)])
        })?;
        Ok(whole)
    }

    fn add(&self, draft: &mut Draft<'_>, addition: Addition<'_>) -> Result<()> {
        let Addition { kernel, dims, args, sums } = addition;
        let flops = if self.dtype.is_real() { Flops::of_f32(sums) } else { Flops::of_integers(sums) };
        draft.step(NewStep {
            tile: format!("{LANES} invocations, four elements each, {}", self.dtype),
            blocks: u64::from(dims.units.div_ceil(LANES)),
            dims: Dims::of(&dims),
            flops,
            ..NewStep::of(kernel, Needs::of(LANES, 0), args)
        })
    }
}
