//! Plans in windows: a plan of several parts. The operands of a part are windows of the operation's operands.

use super::draft::{Draft, Region};
use super::executable::Plan;
use super::operands::{Access, Form, Operand};
use super::problem::Problem;
use super::trial::Trial;
use super::windows::{Along, CutAxes, Windows};
use crate::caps::Caps;
use crate::kernel;
use crate::layout::{ALIGNED_BYTES, DType, Layout};
use crate::{Error, Result};
use std::fmt::Debug;
use std::hash::Hash;
use std::ops::Range;

/// The largest number of windows of a plan. Each takes some kilobytes of the host's memory. With bindings of 128 MiB,
/// this number covers 512 GiB.
const MAX_WINDOWS: usize = 1 << 12;

/// A problem that can be computed in windows. Its plan is that of one part, or of several if one part exceeds the device's
/// bindings.
pub(crate) trait InWindows: Clone + Debug + Eq + Hash + Send + 'static {
    /// The steps that join windows, unless the kernels take any view.
    const JOINS: Joins = Joins::NONE;

    /// The axes along which it can be cut, and its operands in the order of the plan's parameters.
    ///
    /// # Errors
    /// [`Error::Limit`] if a size is $2^{31}$ or more.
    fn cut_axes(&self) -> Result<CutAxes>;

    /// The operation on these ranges of the axes. `layouts` are its operands, narrowed to them.
    ///
    /// # Errors
    /// As the problem's constructor.
    fn part(&self, layouts: &[Layout], ranges: &[Range<usize>]) -> Result<Self>;

    /// The plan, if every operand fits into a binding.
    ///
    /// # Errors
    /// As [`Problem::plan`].
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan>;

    /// Adds the steps before the parts. Returns further operands of each part.
    ///
    /// # Errors
    /// [`Error::Limit`] if a temporary is too large.
    fn before_parts(&self, _: &mut Draft<'_>, _: &[Region]) -> Result<Vec<Region>> {
        Ok(Vec::new())
    }

    /// Copies the arrays of a part to their places in an operand of the form [`Form::Own`].
    ///
    /// # Errors
    /// Those of the copies; by default [`Error::Device`], because there are no such operands.
    fn put(&self, _: &mut Draft<'_>, _: &Joins, _: &Self, _: [Region; 2], _: &[Range<usize>]) -> Result<()> {
        missing()
    }

    /// The reasons for the plan of one part, for [`Problem::explain`].
    ///
    /// # Errors
    /// As [`Problem::plan`].
    fn reasons(&self, _: &Caps) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// The plans for [`Problem::candidates`].
    ///
    /// # Errors
    /// As [`Problem::plan`].
    fn alternatives(&self, caps: &Caps) -> Result<Vec<Plan>> {
        self.plan(caps).map(|plan| vec![plan])
    }

    /// The reference for [`Problem::trial`].
    ///
    /// # Errors
    /// As [`Problem::plan`].
    fn reference(&self, _: &Caps) -> Result<Option<Trial>> {
        Ok(None)
    }

    /// The layout of an operand, narrowed to these ranges of the axes.
    ///
    /// # Errors
    /// [`Error::Shape`] if the operand has no such axis, which is a bug of this crate.
    fn narrowed(&self, operand: &Operand, ranges: &[Range<usize>]) -> Result<Layout> {
        operand.narrowed(ranges)
    }
}

/// Steps that operations of the rooms above supply.
#[derive(Clone, Copy)]
pub(crate) struct Joins {
    /// Copies one region to another of the same shape and type.
    pub(crate) copy: Option<Join>,
    /// Sums the first region, which is (rows, length), along the rows. The second is the result.
    pub(crate) sum: Option<Join>,
}

/// Adds steps between two regions.
pub(crate) type Join = fn(&mut Draft<'_>, Region, Region) -> Result<()>;

impl Joins {
    /// For an operation whose kernels take any view.
    pub(crate) const NONE: Self = Self { copy: None, sum: None };

    /// Adds the steps of a copy.
    ///
    /// # Errors
    /// Those of the step.
    pub(crate) fn copy(&self, draft: &mut Draft<'_>, from: Region, to: Region) -> Result<()> {
        self.copy.map_or_else(missing, |copy| copy(draft, from, to))
    }

    fn sum(&self, draft: &mut Draft<'_>, parts: Region, to: Region) -> Result<()> {
        self.sum.map_or_else(missing, |sum| sum(draft, parts, to))
    }
}

fn missing() -> Result<()> {
    Err(Error::device("windows are to be joined, and the operation has no such step"))
}

impl<P: InWindows> Problem for P {
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        match self.plan_of_one(caps) {
            Err(error) => match error {
                Error::Limit { op, .. } => plan_in_several(self, caps, (op, error)),
                _ => Err(error),
            },
            planned => planned,
        }
    }

    fn explain(&self, caps: &Caps) -> Result<Plan> {
        match self.plan_of_one(caps) {
            Ok(plan) => Ok(plan.because(self.reasons(caps)?)),
            Err(_) => self.plan(caps),
        }
    }

    fn candidates(&self, caps: &Caps) -> Result<Vec<Plan>> {
        self.alternatives(caps)
    }

    fn trial(&self, caps: &Caps) -> Result<Option<Trial>> {
        self.reference(caps)
    }
}

/// The same with several parts. `too_large` is the limit that one part exceeds.
fn plan_in_several<P: InWindows>(
    problem: &P,
    caps: &Caps,
    (op, too_large): (&'static str, Error),
) -> Result<Plan> {
    let joins = P::JOINS;
    let mut axes = problem.cut_axes()?;
    let along = if joins.copy.is_some() { Along::All } else { Along::AllOfViews };
    let mut windows = Windows::new(op, &mut axes, caps, along)?;
    let axes = axes;
    // The size of the smallest window tells how much must be sliced off along the axis that is not cut.
    let mut smallest = None;
    let (windows, first) = loop {
        let kept = windows.kept(&axes);
        if let Some(ranges) = kept.blocks().next().filter(|_| kept.count() > 1) {
            let layouts = narrowed(problem, &axes, &ranges)?;
            let part = part(problem, &axes, &layouts, &ranges)?;
            match check_copies(op, &axes, &layouts, caps).and_then(|()| part.plan_of_one(caps)) {
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
    if windows.count() > MAX_WINDOWS {
        let (needed, allowed) = (windows.count() as u64, MAX_WINDOWS as u64);
        return Err(Error::Limit { op, what: "the number of windows".into(), needed, allowed });
    }
    let mut draft = Draft::new(first.op(), first.scalars(), caps);
    draft.reason(format!("{} windows: an operand exceeds the largest binding", windows.count()));
    let scalars: Vec<usize> = (0..first.scalars().len()).collect();
    let mut regions = Vec::with_capacity(axes.operands.len());
    for (operand, parameter) in axes.operands.iter().zip(first.parameters()) {
        // As in the plan of one part: contiguous results have one axis.
        let layout = if operand.form == Form::View { operand.layout } else { operand.layout.flattened() };
        let region = draft.operand(parameter.name, parameter.dtype, layout, parameter.access);
        regions.push(region.with_layout(operand.layout));
    }
    let before = problem.before_parts(&mut draft, &regions)?;
    let mut sums = Sums::all(&mut draft, &axes, windows.count())?;
    for ranges in windows.blocks() {
        let layouts = narrowed(problem, &axes, &ranges)?;
        let part = part(problem, &axes, &layouts, &ranges)?;
        let plan = part.plan_of_one(caps)?;
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
            problem.put(&mut draft, &joins, &part, arrays, &ranges)?;
        }
    }
    for own in sums {
        joins.sum(&mut draft, own.of(own.now, 0..own.taken)?, regions[own.index])?;
    }
    Ok(draft.finish())
}

fn narrowed(problem: &impl InWindows, axes: &CutAxes, ranges: &[Range<usize>]) -> Result<Vec<Layout>> {
    axes.operands.iter().map(|operand| problem.narrowed(operand, ranges)).collect()
}

/// The problem of these windows; some of them are copied.
fn part<P: InWindows>(problem: &P, axes: &CutAxes, layouts: &[Layout], ranges: &[Range<usize>]) -> Result<P> {
    let taken = axes.operands.iter().zip(layouts).map(|(operand, layout)| {
        let is_copied = operand.form == Form::Dense && !is_dense(layout, operand.dtype);
        if is_copied { layout.without_gaps() } else { *layout }
    });
    problem.part(&taken.collect::<Vec<_>>(), ranges)
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
