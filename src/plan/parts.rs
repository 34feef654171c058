//! The plan of a problem in several parts.

use super::draft::{Draft, Region};
use super::executable::Plan;
use super::joins::Joins;
use super::operands::{Access, Form, Operand};
use super::windows::{Along, CutAxes, Windows};
use crate::caps::Caps;
use crate::kernel;
use crate::layout::{ALIGNED_BYTES, DType, Layout};
use crate::{Error, Result};
use std::ops::Range;

/// The largest number of windows of a plan. Each takes some kilobytes of the host's memory. With bindings of 128 MiB,
/// this number covers 512 GiB.
const MAX_WINDOWS: u64 = 1 << 12;

/// A problem in windows, of any type. [`InWindows`](super::in_windows::InWindows) describes the functions.
pub(super) struct Parts<'a> {
    pub(super) joins: Joins,
    pub(super) axes: CutAxes,
    pub(super) narrowed: &'a Narrowed<'a>,
    pub(super) before_parts: &'a BeforeParts<'a>,
    /// The plan of the part with these windows.
    pub(super) plan_of_part: &'a PlanOfPart<'a>,
    /// Copies the array of the part with these windows to its places.
    pub(super) put_part: &'a PutPart<'a>,
}

type Narrowed<'a> = dyn Fn(&Operand, &[Range<usize>]) -> Result<Layout> + 'a;
type BeforeParts<'a> = dyn Fn(&mut Draft<'_>, &[Region]) -> Result<Vec<Region>> + 'a;
type PlanOfPart<'a> = dyn Fn(&[Layout], &[Range<usize>]) -> Result<Plan> + 'a;
/// The first region is the array of the part, and the second one the operand.
type PutPart<'a> = dyn Fn(&mut Draft<'_>, &[Layout], [Region; 2], &[Range<usize>]) -> Result<()> + 'a;

/// The plan of a problem in several parts. `too_large` is the limit that one part exceeds.
///
/// # Errors
/// [`Error::Limit`] if the windows do not fit however the operation is cut; otherwise as
/// [`Problem::plan`](super::problem::Problem::plan).
pub(super) fn plan_in_parts(
    parts: Parts<'_>,
    caps: &Caps,
    (op, too_large): (&'static str, Error),
) -> Result<Plan> {
    let Parts { joins, mut axes, narrowed, before_parts, plan_of_part, put_part } = parts;
    let along = if joins.copy.is_some() { Along::All } else { Along::AllOfViews };
    let mut windows = Windows::new(op, &mut axes, caps, along)?;
    let axes = axes;
    let narrowed = |ranges: &[Range<usize>]| -> Result<Vec<Layout>> {
        axes.operands.iter().map(|operand| narrowed(operand, ranges)).collect()
    };
    // The size of the smallest window tells how much must be sliced off along the axis that is not cut.
    let mut smallest = None;
    let (windows, first) = loop {
        let kept = windows.kept(&axes);
        if let Some(ranges) = kept.blocks().next().filter(|_| kept.count() > 1) {
            let layouts = narrowed(&ranges)?;
            let taken = taken(&axes, &layouts);
            let planned =
                check_copies(op, &axes, &layouts, caps).and_then(|()| plan_of_part(&taken, &ranges));
            match planned {
                // This may be a temporary of the part.
                Err(error @ Error::Limit { .. }) => smallest = Some(error),
                planned => break (kept, planned?),
            }
        }
        match windows.smaller(&axes) {
            Some(smaller) => windows = smaller,
            None => {
                let error = smallest.unwrap_or(too_large);
                return Err(match windows.axis_left(&axes) {
                    Some(axis) => kernel::slice_along(error, axis),
                    None => error,
                });
            }
        }
    };
    Error::check_limit(op, "the number of windows", windows.count() as u64, MAX_WINDOWS)?;
    let mut draft = Draft::new(first.op(), first.scalars(), caps);
    draft.reason(format!("{} windows: an operand exceeds the largest binding", windows.count()));
    let scalars: Vec<usize> = (0..first.scalars().len()).collect();
    let mut regions = Vec::with_capacity(axes.operands.len());
    for (operand, parameter) in axes.operands.iter().zip(first.parameters()) {
        regions.push(draft.region(&operand.clone().accessed(parameter.access)));
    }
    let before = before_parts(&mut draft, &regions)?;
    let mut sums = Sums::all(&mut draft, &axes, windows.count())?;
    for ranges in windows.blocks() {
        let layouts = narrowed(&ranges)?;
        let taken = taken(&axes, &layouts);
        let plan = plan_of_part(&taken, &ranges)?;
        let mut bound = Vec::with_capacity(regions.len());
        let (mut copies, mut own_arrays) = (Vec::new(), Vec::new());
        for (index, (region, layout)) in regions.iter().zip(&layouts).enumerate() {
            let window = region.with_layout(*layout);
            bound.push(match axes.operands[index].form {
                Form::Sum => match sums.iter_mut().find(|sums| sums.index == index) {
                    Some(sums) => sums.next_part(&mut draft, joins)?,
                    None => window,
                },
                Form::Own => {
                    let own = draft.temporary(&[layout.len()], window.dtype)?;
                    own_arrays.push([own, *region]);
                    own
                }
                Form::Dense if !is_dense(layout, window.dtype) => {
                    let [own, from, to] = copied(&mut draft, window)?;
                    let access = plan.parameters().get(index).map(|parameter| parameter.access);
                    if access != Some(Access::Write) {
                        joins.copy(&mut draft, from, to)?;
                    }
                    if access != Some(Access::Read) {
                        copies.push((to, from));
                    }
                    own
                }
                Form::Dense | Form::View => window,
            });
        }
        bound.extend(&before);
        draft.call(plan, &bound, &scalars)?;
        copies.into_iter().try_for_each(|(own, window)| joins.copy(&mut draft, own, window))?;
        for arrays in own_arrays {
            put_part(&mut draft, &taken, arrays, &ranges)?;
        }
    }
    for own in sums {
        joins.sum(&mut draft, own.of(own.now, 0..own.taken)?, regions[own.index])?;
    }
    Ok(draft.finish())
}

/// The layouts of the operands of a part, some of which are copies of these windows.
fn taken(axes: &CutAxes, layouts: &[Layout]) -> Vec<Layout> {
    let windows = axes.operands.iter().zip(layouts);
    let taken = windows.map(|(operand, layout)| {
        let is_copied = operand.form == Form::Dense && !is_dense(layout, operand.dtype);
        if is_copied { layout.without_gaps() } else { *layout }
    });
    taken.collect()
}

/// Whether this window has no gaps and begins at the start of its binding.
fn is_dense(layout: &Layout, dtype: DType) -> bool {
    layout.offset_in_window(dtype) == 0 && layout.has_same_strides(&layout.without_gaps(), dtype)
}

/// Checks that the windows that are copied fit into temporaries.
fn check_copies(op: &'static str, axes: &CutAxes, layouts: &[Layout], caps: &Caps) -> Result<()> {
    let copied = axes.operands.iter().zip(layouts);
    let copied =
        copied.filter(|(operand, layout)| operand.form == Form::Dense && !is_dense(layout, operand.dtype));
    copied.into_iter().try_for_each(|(operand, layout)| {
        let own = layout.without_gaps().bytes(operand.dtype);
        kernel::check_scratch(op, caps, own.end)
    })
}

/// A temporary like a window, and the regions to copy between them: both without repeated elements.
fn copied(draft: &mut Draft<'_>, window: Region) -> Result<[Region; 3]> {
    let layout = window.layout.without_gaps();
    let own = draft.temporary(&[layout.span().len()], window.dtype)?.with_layout(layout);
    let once = |region: Region| -> Result<Region> {
        let repeated = (0..layout.rank()).filter(|&axis| layout.strides()[axis] == 0);
        let once = repeated.into_iter().try_fold(region.layout, |of, axis| of.slice(axis, ..1))?;
        Ok(region.with_layout(once))
    };
    Ok([own, once(window)?, once(own)?])
}

/// The sums of the parts for one operand: rows of a temporary, at aligned offsets.
struct Sums {
    index: usize,
    length: usize,
    /// The number of rows, and the number of used rows.
    rows: usize,
    taken: usize,
    now: Region,
    /// Adds up all rows, after the last part.
    next: Option<Region>,
}

impl Sums {
    /// The sums of each operand that is a sum.
    fn all(draft: &mut Draft<'_>, axes: &CutAxes, parts: usize) -> Result<Vec<Self>> {
        let of_form = |(_, operand): &(usize, &Operand)| operand.form == Form::Sum;
        let operands = axes.operands.iter().enumerate().filter(of_form);
        let sums = operands.map(|(index, operand)| {
            let (length, size) = (operand.layout.len(), operand.dtype.size());
            let step = length.next_multiple_of(ALIGNED_BYTES / size);
            let most = kernel::max_buffer_bytes(draft.caps()) / (step * size) as u64;
            let rows = usize::try_from(most).unwrap_or(parts).max(2).min(parts);
            let now = draft.temporary(&[rows, step], operand.dtype)?;
            let next = if rows < parts { Some(draft.temporary(&[rows, step], operand.dtype)?) } else { None };
            Ok(Self { index, length, rows, taken: 0, now, next })
        });
        sums.collect()
    }

    /// Rows of the temporary.
    fn of(&self, all: Region, rows: Range<usize>) -> Result<Region> {
        Ok(all.with_layout(all.layout.slice(0, rows)?.slice(1, ..self.length)?))
    }

    /// The region in which the next part stores its sums.
    fn next_part(&mut self, draft: &mut Draft<'_>, joins: Joins) -> Result<Region> {
        if let Some(next) = self.next.filter(|_| self.taken == self.rows) {
            joins.sum(draft, self.of(self.now, 0..self.rows)?, self.of(next, 0..1)?)?;
            (self.now, self.next, self.taken) = (next, Some(self.now), 1);
        }
        self.taken += 1;
        self.of(self.now, self.taken - 1..self.taken)
    }
}
