//! The plan of an addition to indexed elements: the indices are sorted, then each slot adds its values in their order.
//! Operands that are larger than a binding are cut into windows (`windows.rs`).

use super::kernel::{CHUNK, LANES, block, merge_kernel, sort_kernel, starts_kernel};
use super::problem::{ScatterDims, ScatterProblem, Target};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::{Kernel, Needs};
use crate::layout::{DType, Layout, dim};
use crate::ops::elementwise::operation::Elementwise;
use crate::ops::elementwise::problem::ElementwiseProblem;
use crate::ops::windows::JOINS;
use crate::plan::{
    Access, Along, CutAxes, Dims, Draft, Flops, Form, InWindows, Joins, NewStep, Operand, Plan, Problem,
    Region, Windows,
};
use std::ops::Range;

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

impl InWindows for ScatterProblem {
    const JOINS: Joins = JOINS;

    /// The axes that C and the values share, and then the indexed axis.
    fn cut_axes(&self) -> Result<CutAxes> {
        let [c, _, values] = self.layouts;
        let indexed = self.target.axis();
        // Elements may have fewer indices than C has positions.
        let extent = |axis: usize| match self.target {
            Target::Elements(_) => values.shape()[axis],
            Target::Rows { .. } | Target::Positions(_) => c.shape()[axis],
        };
        let extents: Vec<usize> = self.shared().map(extent).chain([c.shape()[indexed]]).collect();
        Ok(CutAxes { joined: 1, ..CutAxes::of(&extents, self.operands()) })
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        Self::new(self.target, [&layouts[0], &layouts[1], &layouts[2]], self.dtype)
    }

    /// Sorts blocks of indices, merges them pairwise, finds the first index of each slot, and adds.
    ///
    /// Operands: C, the indices, the values.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let op = self.target.op();
        let mut draft = Draft::new(op, &[], caps);
        let [c, indices, values] = self.operands().map(|of| draft.region(&of));
        if c.bound_bytes() <= caps.limits.binding_bytes {
            self.steps(&mut draft, [c, indices, values])?;
            return Ok(draft.finish());
        }
        let mut axes = self.cut_axes()?;
        axes.operands.iter_mut().for_each(|operand| operand.form = Form::View);
        let windows = Windows::new(op, &mut axes, caps, Along::Joined)?;
        draft.reason(format!("{} windows along the indexed axis", windows.count()));
        for ranges in windows.blocks() {
            let range = &ranges[axes.extents.len() - 1];
            let window = c.with_layout(axes.operands[0].narrowed(&ranges)?);
            let own = from_start(&mut draft, indices, range.start)?;
            let target = match self.target {
                Target::Rows { padding } => {
                    let padding = padding.filter(|row| range.contains(row)).map(|row| row - range.start);
                    Target::Rows { padding }
                }
                target => target,
            };
            let part = Self::new(target, [&window.layout, &own.layout, &values.layout], self.dtype)?;
            part.steps(&mut draft, [window, own, values])?;
        }
        Ok(draft.finish())
    }
}

impl ScatterProblem {
    /// The axes of C but the indexed one.
    fn shared(&self) -> impl Iterator<Item = usize> {
        (0..self.layouts[0].rank()).filter(|&axis| axis != self.target.axis())
    }

    /// C, the indices and the values.
    pub(super) fn operands(&self) -> [Operand; 3] {
        let [c, indices, values] = self.layouts;
        let of_rows = matches!(self.target, Target::Rows { .. });
        let [name_of_indices, name_of_values] =
            if of_rows { ["the ids", "the gradient"] } else { ["the indices", "the values"] };
        let of_indices = |axis: usize| matches!(self.target, Target::Elements(_)).then_some(axis);
        let of_values = |axis: usize| Some(if of_rows { axis - 1 + indices.rank() } else { axis });
        let c = Operand::written("the output", self.dtype, c).accessed(self.access());
        let values = Operand::read(name_of_values, self.dtype, values).in_form(Form::Dense);
        [
            c.along(self.shared().map(Some).chain([Some(self.target.axis())])),
            Operand::read(name_of_indices, DType::I32, indices).along(self.shared().map(of_indices)),
            values.along(self.shared().map(of_values)),
        ]
    }
}

/// The indices minus `start`. Indices before it become negative, or larger than every extent.
fn from_start(draft: &mut Draft<'_>, indices: Region, start: usize) -> Result<Region> {
    if start == 0 {
        return Ok(indices);
    }
    let shape = indices.layout.shape();
    let own = draft.temporary(shape, DType::I32)?;
    let back = u32::try_from(start).unwrap_or(u32::MAX).wrapping_neg();
    let back = draft.constant(&[back])?;
    let repeated = back.layout.reshape(&[])?.broadcast_to(shape)?;
    let sum = ElementwiseProblem::of_one_type(
        Elementwise::ADD,
        &[&indices.layout, &repeated],
        &own.layout,
        DType::I32,
    )?;
    draft.call(sum.plan(draft.caps())?, &[own, indices, back.with_layout(repeated)], &[])?;
    Ok(own)
}
