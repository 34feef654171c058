//! Products with buffers that are too large to bind: they are cut into panels, which bind windows of these, without copies.

use super::halves;
use super::layouts::Layouts;
use super::problem::{GemmDims, GemmProblem, OP, Split};
use super::reduce;
use crate::caps::Caps;
use crate::kernel;
use crate::layout::Precision;
use crate::layout::{DType, Layout};
use crate::{Error, Result};
use std::ops::Range;

/// Extents of panels are multiples of this where they are larger: vectors stay whole.
const UNIT: usize = 64;
/// Panels of a product at most: a plan has a step for each. Devices with bindings as small as WebGPU's would need memory of some
/// 100 GB to reach it.
const PANELS_AT_MOST: usize = 1 << 16;
/// Bytes that a window may have beyond its elements, as it starts and ends at aligned offsets.
const SLACK: u64 = 512;

/// An axis of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Axis {
    Batch0,
    Batch1,
    M,
    N,
    K,
}

const AXES: [Axis; 5] = [Axis::Batch0, Axis::Batch1, Axis::M, Axis::N, Axis::K];

/// How a product is cut: the extent of the panels along each of [`AXES`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Panels {
    extents: [usize; 5],
    panel: [usize; 5],
}

/// The indices along each axis but k that a block of C has.
#[derive(Clone, Debug)]
pub(super) struct Panel {
    ranges: [Range<usize>; 4],
}

/// A buffer that a panel of a product binds.
#[derive(Clone, Copy, Debug)]
enum PanelBuffer {
    /// A window of a view: its strides along [`AXES`], and its type.
    Window([usize; 5], DType),
    /// A temporary of the panel, without gaps: bytes of an element, which of [`AXES`] it has, and its length along k.
    Own(usize, [bool; 5], Rows),
}

/// How long a temporary is along k, if it has that axis.
#[derive(Clone, Copy, Debug)]
enum Rows {
    /// As long as the panel is.
    Exact,
    /// Padded to a multiple of 8 f16.
    Filled,
}

impl Panels {
    /// The panels of a product. It is cut in half until every buffer that a panel binds fits, each time along the axis along
    /// which the buffer that is too large spans the most. Where k is cut, the sums of the parts must fit, too.
    pub(super) fn new(problem: &GemmProblem, caps: &Caps) -> Result<Self> {
        let mut panels = Self::whole(&problem.dims);
        let bound = PanelBuffer::of(problem, &problem.layouts()?, caps);
        let allowed = caps.limits.binding_bytes.saturating_sub(SLACK);
        let sums = PanelBuffer::Own(4, OF_C, Rows::Exact);
        loop {
            let too_large = |bound: &&PanelBuffer| panels.bytes(bound) > bound.allowed(caps);
            let (bound, needed) = match bound.iter().find(too_large) {
                Some(bound) => (bound, panels.bytes(bound)),
                None if panels.sums() > allowed => (&sums, panels.sums()),
                None => return panels.checked(),
            };
            let steps = panels.steps_in(bound);
            let reach = |&i: &usize| (panels.panel[i] - 1).saturating_mul(steps[i]);
            let widest = (0..AXES.len()).filter(|&i| panels.panel[i] > 1).max_by_key(reach);
            match widest.filter(|i| reach(i) > 0) {
                Some(i) => panels.halve(i),
                None => {
                    let what = "a panel of one operand in bytes".to_owned();
                    return Err(Error::Limit { op: OP, what, needed, allowed });
                }
            }
        }
    }

    /// These panels, unless they are so many that a plan should not name them all.
    fn checked(self) -> Result<Self> {
        if self.count() <= PANELS_AT_MOST {
            return Ok(self);
        }
        let (needed, allowed) = (self.count() as u64, PANELS_AT_MOST as u64);
        Err(Error::Limit { op: OP, what: "the number of panels of a product".into(), needed, allowed })
    }

    /// A single panel: the product is not cut.
    fn whole(d: &GemmDims) -> Self {
        let extents = [d.batches / d.batch1.max(1), d.batch1, d.m, d.n, d.k].map(|extent| extent as usize);
        Self { extents, panel: extents }
    }

    /// Whether the product's temporaries can be bound if it is not cut.
    pub(super) fn own_fits(problem: &GemmProblem, caps: &Caps) -> Result<bool> {
        let whole = Self::whole(&problem.dims);
        let own = PanelBuffer::own(problem, &problem.layouts()?, caps);
        Ok(own.into_iter().flatten().all(|bound| whole.bytes(&bound) <= bound.allowed(caps)))
    }

    fn halve(&mut self, axis: usize) {
        let half = self.panel[axis].div_ceil(2);
        self.panel[axis] =
            if half > UNIT { half.next_multiple_of(UNIT).min(self.panel[axis] - 1) } else { half };
    }

    /// How many bytes of this buffer a panel spans.
    fn bytes(&self, bound: &PanelBuffer) -> u64 {
        let (elements, size) = match *bound {
            PanelBuffer::Window(steps, dtype) => {
                let reach =
                    self.panel.iter().zip(steps).map(|(extent, step)| (extent - 1).saturating_mul(step));
                (reach.fold(1, usize::saturating_add), dtype.size())
            }
            PanelBuffer::Own(size, axes, rows) => {
                let extents = self.filled(rows).into_iter().zip(axes);
                let extents = extents.map(|(extent, is_there)| if is_there { extent } else { 1 });
                (extents.fold(1, usize::saturating_mul), size)
            }
        };
        (elements as u64).saturating_mul(size as u64)
    }

    /// The strides of this buffer along [`AXES`], in elements.
    fn steps_in(&self, bound: &PanelBuffer) -> [usize; 5] {
        match *bound {
            PanelBuffer::Window(steps, _) => steps,
            PanelBuffer::Own(_, axes, rows) => {
                let (extents, mut steps, mut step) = (self.filled(rows), [0; 5], 1usize);
                for i in (0..AXES.len()).rev().filter(|&i| axes[i]) {
                    steps[i] = step;
                    step = step.saturating_mul(extents[i]);
                }
                steps
            }
        }
    }

    /// The extents of a panel's temporaries.
    fn filled(&self, rows: Rows) -> [usize; 5] {
        let [batch0, batch1, m, n, k] = self.panel;
        match rows {
            Rows::Exact => self.panel,
            Rows::Filled => [batch0, batch1, m, n, k.next_multiple_of(halves::UNIT as usize)],
        }
    }

    /// Bytes of the sums of a block whose k is cut.
    fn sums(&self) -> u64 {
        let [.., whole] = self.extents;
        let [block @ .., k] = self.panel;
        let steps = whole.max(1).div_ceil(k.max(1));
        if steps < 2 {
            0
        } else {
            4 * block.iter().chain(&[steps]).map(|&extent| extent as u64).product::<u64>()
        }
    }

    /// The blocks of C.
    pub(super) fn blocks(&self) -> impl Iterator<Item = Panel> + use<> {
        let Self { extents, panel } = *self;
        let cuts = move |axis: usize| cut(extents[axis], panel[axis]);
        cuts(0).into_iter().flat_map(move |batch0| {
            cuts(1).into_iter().flat_map(move |batch1| {
                let batch0 = batch0.clone();
                cuts(2).into_iter().flat_map(move |m| {
                    let (batch0, batch1) = (batch0.clone(), batch1.clone());
                    cuts(3)
                        .into_iter()
                        .map(move |n| Panel { ranges: [batch0.clone(), batch1.clone(), m.clone(), n] })
                })
            })
        })
    }

    /// The parts of k.
    pub(super) fn steps(&self) -> Vec<Range<usize>> {
        cut(self.extents[4], self.panel[4])
    }

    /// How many panels there are.
    pub(super) fn count(&self) -> usize {
        (0..AXES.len()).map(|axis| self.extents[axis].div_ceil(self.panel[axis].max(1)).max(1)).product()
    }
}

/// Which of [`AXES`] C has.
const OF_C: [bool; 5] = [true, true, true, true, false];

impl PanelBuffer {
    /// The buffers that a product binds: a whole one, or a panel.
    fn of(problem: &GemmProblem, layouts: &Layouts, caps: &Caps) -> Vec<Self> {
        let (d, types) = (&problem.dims, &problem.types);
        let Layouts { a, b, c, residual, .. } = layouts;
        let window = |layout: &Layout, axes: [Axis; 2], dtype| Self::Window(steps_of(layout, axes), dtype);
        let mut bound = vec![
            window(a, [Axis::M, Axis::K], types.ab),
            window(b, [Axis::K, Axis::N], types.ab),
            window(c, [Axis::M, Axis::N], types.c),
        ];
        bound.extend(residual.as_ref().map(|residual| window(residual, [Axis::M, Axis::N], types.c)));
        bound.extend(problem.epilogue.bias.map(|dtype| {
            let steps = [0, 0, d.bias_row, d.bias_col, 0].map(|step| step as usize);
            Self::Window(steps, dtype)
        }));
        bound.extend(Self::own(problem, layouts, caps).into_iter().flatten());
        bound
    }

    /// The product's temporaries: sums of the parts of k, both operands as f16, and sums of cross terms.
    fn own(problem: &GemmProblem, layouts: &Layouts, caps: &Caps) -> [Option<Self>; 4] {
        let has = |layout: &Layout, from_last: usize| layout.shape()[layout.rank() - from_last] > 1;
        let halves = |layout: &Layout, [m, n]: [bool; 2], bytes| {
            Self::Own(bytes, [has(layout, 4), has(layout, 3), m, n, true], Rows::Filled)
        };
        let parts = parts_of_sums(problem, caps);
        let sums = (parts > 0).then_some(Self::Own(4 * parts as usize, OF_C, Rows::Exact));
        if !problem.is_in_halves() || layouts.c.is_empty() {
            return [sums, None, None, None];
        }
        let (bytes, cross) = match problem.precision {
            Precision::Split => (4, Some(Self::Own(4, OF_C, Rows::Exact))),
            Precision::Fast | Precision::Strict => (2, None),
        };
        let [a, b] = [(&layouts.a, [true, false]), (&layouts.b, [false, true])]
            .map(|(layout, outer)| halves(layout, outer, bytes));
        [sums, Some(a), Some(b), cross]
    }

    /// How many bytes of it may be bound. A window may have to begin and end a little beyond its elements.
    fn allowed(&self, caps: &Caps) -> u64 {
        match self {
            Self::Window(..) => caps.limits.binding_bytes.saturating_sub(SLACK),
            Self::Own(..) => kernel::own_bytes(caps),
        }
    }
}

/// The number of parts of k whose sums one launch writes for another: the parts that the caller asked for; one if a second
/// launch applies the epilogue; else 0.
fn parts_of_sums(problem: &GemmProblem, caps: &Caps) -> u32 {
    let k = problem.dims.k as usize;
    let (scaled, k) = match problem.precision {
        _ if !problem.is_in_halves() => (0, k),
        Precision::Split => (3, 2 * k.next_multiple_of(halves::UNIT as usize)),
        Precision::Fast | Precision::Strict => (2, k.next_multiple_of(halves::UNIT as usize)),
    };
    let extras = problem.extra_bindings() + scaled;
    let is_apart = extras > 0 && 3 + extras > caps.limits.storage_bindings;
    match problem.split {
        Split::Parts(parts) if parts > 1 && problem.may_be_split() => reduce::parts_at_most(k, parts),
        _ => u32::from(is_apart),
    }
}

fn cut(extent: usize, panel: usize) -> Vec<Range<usize>> {
    let panel = panel.max(1);
    (0..extent.div_ceil(panel).max(1)).map(|i| i * panel..((i + 1) * panel).min(extent)).collect()
}

/// Elements from one index to the next along each of [`AXES`], of an operand whose last two axes are these.
fn steps_of(layout: &Layout, last: [Axis; 2]) -> [usize; 5] {
    let axes = [Axis::Batch0, Axis::Batch1].into_iter().chain(last);
    let mut steps = [0; 5];
    for (axis, from_last) in axes.zip([4, 3, 2, 1]) {
        steps[AXES.iter().position(|known| *known == axis).unwrap_or(0)] =
            super::problem::stride(layout, from_last);
    }
    steps
}

impl Panel {
    /// The block's part of all operands, along this part of k.
    pub(super) fn of(&self, layouts: &Layouts, d: &GemmDims, k: &Range<usize>) -> Result<Layouts> {
        let [.., m, n] = &self.ranges;
        let Layouts { a, b, c, bias, residual } = layouts;
        let bias = bias.as_ref().map(|bias| match [d.bias_row, d.bias_col] {
            [0, 0] => Ok(*bias),
            [0, _] => bias.slice(0, n.clone()),
            [_, _] => bias.slice(0, m.clone()),
        });
        let residual = residual.as_ref().map(|residual| self.narrow(residual, m, n));
        Ok(Layouts {
            a: self.narrow(a, m, k)?,
            b: self.narrow(b, k, n)?,
            c: self.narrow(c, m, n)?,
            bias: bias.transpose()?,
            residual: residual.transpose()?,
        })
    }

    /// Narrows the axes of a layout that are not repeated.
    fn narrow(&self, layout: &Layout, rows: &Range<usize>, cols: &Range<usize>) -> Result<Layout> {
        self.cuts(layout, rows, cols).try_fold(*layout, |narrowed, (axis, range)| narrowed.slice(axis, range))
    }

    /// The axes of a layout that are not repeated, with the range of each that is kept.
    fn cuts(
        &self,
        layout: &Layout,
        rows: &Range<usize>,
        cols: &Range<usize>,
    ) -> impl Iterator<Item = (usize, Range<usize>)> + use<> {
        let [batch0, batch1, ..] = self.ranges.clone();
        let layout = *layout;
        let ranges = [(batch0, 4), (batch1, 3), (rows.clone(), 2), (cols.clone(), 1)];
        ranges.into_iter().filter_map(move |(range, from_last)| {
            let axis = layout.rank().checked_sub(from_last)?;
            let repeated = from_last > 2 && layout.shape()[axis] == 1;
            (!repeated).then_some((axis, range))
        })
    }
}
