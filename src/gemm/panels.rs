//! Products with buffers that are too large to bind: they are cut into panels, which bind windows of these, without copies.

use super::epilogue::BiasAxis;
use super::halves;
use super::launch::Product;
use super::precision::Precision;
use super::problem::OP;
use crate::gpu::Caps;
use crate::kernel;
use crate::tensor::{DType, Layout, View};
use crate::{Error, Result};
use std::ops::Range;

/// Extents of panels are multiples of this where they are larger: vectors stay whole.
const UNIT: usize = 64;
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
enum Bound {
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
    pub(super) fn new(product: &Product<'_>, c: &Layout, dtype: DType, caps: &Caps) -> Result<Self> {
        let mut panels = Self::whole(product, c);
        let bound = Bound::of(product, &panels.extents, c, dtype, caps);
        let allowed = caps.limits.binding_bytes.saturating_sub(SLACK);
        let sums = Bound::Own(4, OF_C, Rows::Exact);
        loop {
            let too_large = |bound: &&Bound| panels.bytes(bound) > bound.allowed(caps);
            let (bound, needed) = match bound.iter().find(too_large) {
                Some(bound) => (bound, panels.bytes(bound)),
                None if panels.sums() > allowed => (&sums, panels.sums()),
                None => return Ok(panels),
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

    /// A single panel: the product is not cut.
    fn whole(product: &Product<'_>, c: &Layout) -> Self {
        let (a, rank) = (&product.a.layout, c.rank());
        let batch = |from_last: usize| rank.checked_sub(from_last).map_or(1, |axis| c.shape()[axis]);
        let extents = [batch(4), batch(3), c.shape()[rank - 2], c.shape()[rank - 1], a.shape()[a.rank() - 1]];
        Self { extents, panel: extents }
    }

    /// Whether the product's temporaries can be bound if it is not cut.
    pub(super) fn own_fits(product: &Product<'_>, c: &Layout, caps: &Caps) -> bool {
        let whole = Self::whole(product, c);
        let own = Bound::own(product, &whole.extents, c, caps);
        own.into_iter().flatten().all(|bound| whole.bytes(&bound) <= bound.allowed(caps))
    }

    fn halve(&mut self, axis: usize) {
        let half = self.panel[axis].div_ceil(2);
        self.panel[axis] =
            if half > UNIT { half.next_multiple_of(UNIT).min(self.panel[axis] - 1) } else { half };
    }

    /// How many bytes of this buffer a panel spans.
    fn bytes(&self, bound: &Bound) -> u64 {
        let (elements, size) = match *bound {
            Bound::Window(steps, dtype) => {
                let reach =
                    self.panel.iter().zip(steps).map(|(extent, step)| (extent - 1).saturating_mul(step));
                (reach.fold(1, usize::saturating_add), dtype.size())
            }
            Bound::Own(size, axes, rows) => {
                let extents = self.filled(rows).into_iter().zip(axes);
                let extents = extents.map(|(extent, is_there)| if is_there { extent } else { 1 });
                (extents.fold(1, usize::saturating_mul), size)
            }
        };
        (elements as u64).saturating_mul(size as u64)
    }

    /// The strides of this buffer along [`AXES`], in elements.
    fn steps_in(&self, bound: &Bound) -> [usize; 5] {
        match *bound {
            Bound::Window(steps, _) => steps,
            Bound::Own(_, axes, rows) => {
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
        (0..AXES.len()).map(|axis| cut(self.extents[axis], self.panel[axis]).len()).product()
    }
}

/// Which of [`AXES`] C has.
const OF_C: [bool; 5] = [true, true, true, true, false];

impl Bound {
    /// The buffers that a product of these extents binds: a whole one, or a panel.
    fn of(product: &Product<'_>, extents: &[usize; 5], c: &Layout, dtype: DType, caps: &Caps) -> Vec<Self> {
        let window =
            |view: &View<'_>, axes: [Axis; 2]| Self::Window(steps_of(&view.layout, axes), view.dtype);
        let mut bound = vec![
            window(&product.a, [Axis::M, Axis::K]),
            window(&product.b, [Axis::K, Axis::N]),
            Self::Window(steps_of(c, [Axis::M, Axis::N]), dtype),
        ];
        bound.extend(product.residual.as_ref().map(|residual| window(residual, [Axis::M, Axis::N])));
        bound.extend(product.bias.as_ref().map(|(axis, bias)| {
            let mut steps = [0; 5];
            steps[if *axis == BiasAxis::Rows { 2 } else { 3 }] = bias.layout.strides()[0];
            Self::Window(steps, bias.dtype)
        }));
        bound.extend(Self::own(product, extents, c, caps).into_iter().flatten());
        bound
    }

    /// The product's temporaries: sums of the parts of k, both operands as f16, and sums of cross terms.
    fn own(product: &Product<'_>, extents: &[usize; 5], c: &Layout, caps: &Caps) -> [Option<Self>; 4] {
        let has = |layout: &Layout, from_last: usize| {
            layout.rank().checked_sub(from_last).is_some_and(|axis| layout.shape()[axis] > 1)
        };
        let halves = |layout: &Layout, [m, n]: [bool; 2], bytes| {
            Self::Own(bytes, [has(layout, 4), has(layout, 3), m, n, true], Rows::Filled)
        };
        let parts = product.parts_of_sums(extents[4], caps);
        let sums = (parts > 0).then_some(Self::Own(4 * parts as usize, OF_C, Rows::Exact));
        if !product.is_in_halves() || c.is_empty() {
            return [sums, None, None, None];
        }
        let (bytes, cross) = match product.precision {
            Precision::Split => (4, Some(Self::Own(4, OF_C, Rows::Exact))),
            Precision::Fast | Precision::Strict => (2, None),
        };
        let [a, b] = [(&product.a, [true, false]), (&product.b, [false, true])]
            .map(|(view, outer)| halves(&view.layout, outer, bytes));
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
    /// The block's part of C, or of what has its shape.
    pub(super) fn of_c<'a>(&self, c: View<'a>) -> Result<View<'a>> {
        let [.., m, n] = &self.ranges;
        self.narrow(c, m, n)
    }

    /// The block's part of A, along this part of k.
    pub(super) fn of_a<'a>(&self, a: View<'a>, k: &Range<usize>) -> Result<View<'a>> {
        self.narrow(a, &self.ranges[2], k)
    }

    /// The block's part of B, along this part of k.
    pub(super) fn of_b<'a>(&self, b: View<'a>, k: &Range<usize>) -> Result<View<'a>> {
        self.narrow(b, k, &self.ranges[3])
    }

    pub(super) fn of_bias<'a>(&self, axis: BiasAxis, bias: View<'a>) -> Result<View<'a>> {
        let [.., m, n] = &self.ranges;
        bias.slice(
            0,
            match axis {
                BiasAxis::Rows => m.clone(),
                BiasAxis::Columns => n.clone(),
            },
        )
    }

    /// The layout of the block's part of `c`.
    pub(super) fn of_layout(&self, c: &Layout) -> Result<Layout> {
        let [.., m, n] = &self.ranges;
        self.cuts(c, m, n).try_fold(*c, |narrowed, (axis, range)| narrowed.slice(axis, range))
    }

    /// Narrows the axes of a view that are not repeated.
    fn narrow<'a>(&self, view: View<'a>, rows: &Range<usize>, cols: &Range<usize>) -> Result<View<'a>> {
        let layout = view.layout;
        self.cuts(&layout, rows, cols).try_fold(view, |narrowed, (axis, range)| narrowed.slice(axis, range))
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
