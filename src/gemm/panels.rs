//! Products of operands that cannot be bound as a whole: panels that can, through windows at an offset, without copies.

use super::epilogue::BiasAxis;
use super::launch::Product;
use super::problem::OP;
use crate::gpu::Caps;
use crate::tensor::{DType, Layout, View};
use crate::{Error, Result};
use std::ops::Range;

/// Extents of panels are multiples of this where they are larger: vectors stay whole.
const UNIT: usize = 64;
/// Bytes that a window may have beyond its elements: it starts and ends at whole units.
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

impl Panels {
    /// The panels of a product: whole, or halved along whichever axis spans the most of the operand that is too large,
    /// until everything fits. Cutting k costs memory for sums, which must fit too.
    pub(super) fn new(product: &Product<'_>, c: &Layout, dtype: DType, caps: &Caps) -> Result<Self> {
        let (a, b) = (&product.a.layout, &product.b.layout);
        let rank = c.rank();
        let batch = |from_last: usize| rank.checked_sub(from_last).map_or(1, |axis| c.shape()[axis]);
        let k = a.shape()[a.rank() - 1];
        let extents = [batch(4), batch(3), c.shape()[rank - 2], c.shape()[rank - 1], k];
        let mut operands = vec![
            (steps_of(a, [Axis::M, Axis::K]), product.a.dtype),
            (steps_of(b, [Axis::K, Axis::N]), product.b.dtype),
            (steps_of(c, [Axis::M, Axis::N]), dtype),
        ];
        let residual = product.residual.map(|r| (steps_of(&r.layout, [Axis::M, Axis::N]), r.dtype));
        operands.extend(residual);
        operands.extend(product.bias.map(|(axis, bias)| {
            let mut steps = [0; 5];
            steps[if axis == BiasAxis::Rows { 2 } else { 3 }] = bias.layout.strides()[0];
            (steps, bias.dtype)
        }));
        let allowed = caps.limits.binding_bytes.saturating_sub(SLACK);
        let mut panels = Self { extents, panel: extents };
        loop {
            let too_large = |(steps, dtype): &&([usize; 5], DType)| panels.bytes(steps, *dtype) > allowed;
            let sums = panels.sums();
            let (steps, needed) = match operands.iter().find(too_large) {
                Some((steps, dtype)) => (*steps, panels.bytes(steps, *dtype)),
                None if sums > allowed => (steps_of(c, [Axis::M, Axis::N]), sums),
                None => return Ok(panels),
            };
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

    fn halve(&mut self, axis: usize) {
        let half = self.panel[axis].div_ceil(2);
        self.panel[axis] =
            if half > UNIT { half.next_multiple_of(UNIT).min(self.panel[axis] - 1) } else { half };
    }

    /// Bytes that a panel of an operand with these steps spans.
    fn bytes(&self, steps: &[usize; 5], dtype: DType) -> u64 {
        let reach = self.panel.iter().zip(steps).map(|(extent, step)| (extent - 1).saturating_mul(*step));
        (reach.fold(1, usize::saturating_add) as u64).saturating_mul(dtype.size() as u64)
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

    /// Narrows the axes of a view that are not repeated.
    fn narrow<'a>(&self, view: View<'a>, rows: &Range<usize>, cols: &Range<usize>) -> Result<View<'a>> {
        let rank = view.layout.rank();
        let [batch0, batch1, ..] = &self.ranges;
        let mut narrowed = view;
        for (range, from_last) in [(batch0, 4), (batch1, 3), (rows, 2), (cols, 1)] {
            let Some(axis) = rank.checked_sub(from_last) else { continue };
            let repeated = from_last > 2 && view.layout.shape()[axis] == 1;
            if !repeated {
                narrowed = narrowed.slice(axis, range.clone())?;
            }
        }
        Ok(narrowed)
    }
}
