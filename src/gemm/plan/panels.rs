//! Panels: a product whose operands are too large to bind is cut into products whose operands are windows of them.

use crate::caps::Caps;
use crate::gemm::f16_split::ROW_MULTIPLE;
use crate::gemm::problem::{GemmDims, GemmProblem, Layouts, OP, SplitK, max_splits, stride};
use crate::kernel;
use crate::layout::{DType, Layout, Precision};
use crate::{Error, Result};
use std::ops::Range;

/// Extents of panels that are larger than this are multiples of it, so that vectors stay whole.
const PANEL_MULTIPLE: usize = 64;
/// The largest number of panels: a plan has a stride for each. Even with bindings as small as WebGPU's, a product that needs more
/// would take some 100 GB of memory.
const MAX_PANELS: usize = 1 << 16;
/// Bytes that a window may need in addition to its elements, because it starts and ends at aligned offsets.
const SLACK: u64 = 512;

/// An axis of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProductAxis {
    Batch0,
    Batch1,
    M,
    N,
    K,
}

const AXES: [ProductAxis; 5] =
    [ProductAxis::Batch0, ProductAxis::Batch1, ProductAxis::M, ProductAxis::N, ProductAxis::K];

/// The extents of a product and of its panels along each of [`AXES`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Panels {
    extents: [usize; 5],
    panel: [usize; 5],
}

/// A block of C: its range along each axis except k.
#[derive(Clone, Debug)]
pub(super) struct Panel {
    ranges: [Range<usize>; 4],
}

/// A buffer that a panel binds.
#[derive(Clone, Copy, Debug)]
enum PanelBuffer {
    /// A window of an operand: its strides along [`AXES`], and its type.
    Window([usize; 5], DType),
    /// A contiguous temporary of the panel: bytes per element, which of [`AXES`] it has, and its length along k.
    Own(usize, [bool; 5], Length),
}

/// The length of a temporary along k, if it has that axis.
#[derive(Clone, Copy, Debug)]
enum Length {
    /// That of the panel.
    Exact,
    /// That of the panel, padded to a multiple of 8 f16.
    Padded,
}

impl Panels {
    /// The panels of a product. The product is cut in half until every buffer of a panel fits. Each cut divides the longest
    /// axis of the buffer that is too large. If k is cut, the sums of its ranges must fit too.
    pub(super) fn new(problem: &GemmProblem, caps: &Caps) -> Result<Self> {
        let mut panels = Self::whole(&problem.dims);
        let bound = PanelBuffer::of(problem, &problem.layouts()?, caps);
        let allowed = caps.limits.binding_bytes.saturating_sub(SLACK);
        let sums = PanelBuffer::Own(4, OF_C, Length::Exact);
        loop {
            let too_large = |bound: &&PanelBuffer| panels.bytes(bound) > bound.allowed(caps);
            let (bound, needed) = match bound.iter().find(too_large) {
                Some(bound) => (bound, panels.bytes(bound)),
                None if panels.sums() > allowed => (&sums, panels.sums()),
                None => return panels.checked(),
            };
            let strides = panels.strides_in(bound);
            let reach = |&i: &usize| (panels.panel[i] - 1).saturating_mul(strides[i]);
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

    /// These panels, unless there are more than [`MAX_PANELS`].
    fn checked(self) -> Result<Self> {
        if self.count() <= MAX_PANELS {
            return Ok(self);
        }
        let (needed, allowed) = (self.count() as u64, MAX_PANELS as u64);
        Err(Error::Limit { op: OP, what: "the number of panels of a product".into(), needed, allowed })
    }

    /// A single panel: the whole product.
    fn whole(d: &GemmDims) -> Self {
        let extents = [d.batches / d.batch1.max(1), d.batch1, d.m, d.n, d.k].map(|extent| extent as usize);
        Self { extents, panel: extents }
    }

    /// Whether the device can bind the temporaries of the whole product.
    pub(super) fn own_fits(problem: &GemmProblem, caps: &Caps) -> Result<bool> {
        let whole = Self::whole(&problem.dims);
        let own = PanelBuffer::own(problem, &problem.layouts()?, caps);
        Ok(own.into_iter().flatten().all(|bound| whole.bytes(&bound) <= bound.allowed(caps)))
    }

    fn halve(&mut self, axis: usize) {
        let half = self.panel[axis].div_ceil(2);
        self.panel[axis] = if half > PANEL_MULTIPLE {
            half.next_multiple_of(PANEL_MULTIPLE).min(self.panel[axis] - 1)
        } else {
            half
        };
    }

    /// Bytes of this buffer that a panel spans.
    fn bytes(&self, bound: &PanelBuffer) -> u64 {
        let (elements, size) = match *bound {
            PanelBuffer::Window(strides, dtype) => {
                let reach = self
                    .panel
                    .iter()
                    .zip(strides)
                    // An empty axis (k = 0) counts as one element.
                    .map(|(extent, stride)| extent.saturating_sub(1).saturating_mul(stride));
                (reach.fold(1, usize::saturating_add), dtype.size())
            }
            PanelBuffer::Own(size, axes, length) => {
                let extents = self.padded(length).into_iter().zip(axes);
                let extents = extents.map(|(extent, is_there)| if is_there { extent } else { 1 });
                (extents.fold(1, usize::saturating_mul), size)
            }
        };
        (elements as u64).saturating_mul(size as u64)
    }

    /// The strides of this buffer along [`AXES`], in elements.
    fn strides_in(&self, bound: &PanelBuffer) -> [usize; 5] {
        match *bound {
            PanelBuffer::Window(strides, _) => strides,
            PanelBuffer::Own(_, axes, length) => {
                let (extents, mut strides, mut stride) = (self.padded(length), [0; 5], 1usize);
                for i in (0..AXES.len()).rev().filter(|&i| axes[i]) {
                    strides[i] = stride;
                    stride = stride.saturating_mul(extents[i]);
                }
                strides
            }
        }
    }

    /// The extents of a panel's temporaries.
    fn padded(&self, length: Length) -> [usize; 5] {
        let [batch0, batch1, m, n, k] = self.panel;
        match length {
            Length::Exact => self.panel,
            Length::Padded => [batch0, batch1, m, n, k.next_multiple_of(ROW_MULTIPLE as usize)],
        }
    }

    /// Bytes of the sums of a block, if k is cut.
    fn sums(&self) -> u64 {
        let [.., whole] = self.extents;
        let [block @ .., k] = self.panel;
        let ranges = whole.max(1).div_ceil(k.max(1));
        if ranges < 2 {
            0
        } else {
            4 * block.iter().chain(&[ranges]).map(|&extent| extent as u64).product::<u64>()
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

    /// The ranges of k.
    pub(super) fn ranges_of_k(&self) -> Vec<Range<usize>> {
        cut(self.extents[4], self.panel[4])
    }

    /// The number of panels.
    pub(super) fn count(&self) -> usize {
        (0..AXES.len()).map(|axis| self.extents[axis].div_ceil(self.panel[axis].max(1)).max(1)).product()
    }
}

/// Which of [`AXES`] C has.
const OF_C: [bool; 5] = [true, true, true, true, false];

impl PanelBuffer {
    /// The buffers that a product binds.
    fn of(problem: &GemmProblem, layouts: &Layouts, caps: &Caps) -> Vec<Self> {
        let (d, types) = (&problem.dims, &problem.types);
        let Layouts { a, b, c, residual, row_scale, column_scale, .. } = layouts;
        let window =
            |layout: &Layout, axes: [ProductAxis; 2], dtype| Self::Window(strides_of(layout, axes), dtype);
        let mut bound = vec![
            window(a, [ProductAxis::M, ProductAxis::K], types.ab),
            window(b, [ProductAxis::K, ProductAxis::N], types.ab),
            window(c, [ProductAxis::M, ProductAxis::N], types.c),
        ];
        let of_residual = residual.as_ref().zip(problem.epilogue.residual);
        bound.extend(
            of_residual.map(|(residual, dtype)| window(residual, [ProductAxis::M, ProductAxis::N], dtype)),
        );
        bound.extend(row_scale.iter().map(|scale| Self::Window([0, 0, stride(scale, 1), 0, 0], DType::F32)));
        bound.extend(
            column_scale.iter().map(|scale| Self::Window([0, 0, 0, stride(scale, 1), 0], DType::F32)),
        );
        bound.extend(problem.epilogue.bias.map(|dtype| {
            let strides = [0, 0, d.bias_row, d.bias_col, 0].map(|stride| stride as usize);
            Self::Window(strides, dtype)
        }));
        bound.extend(Self::own(problem, layouts, caps).into_iter().flatten());
        bound
    }

    /// The product's temporaries: the sums of splits of k, both f16 splits, and the sums of cross terms.
    fn own(problem: &GemmProblem, layouts: &Layouts, caps: &Caps) -> [Option<Self>; 4] {
        let has = |layout: &Layout, from_last: usize| layout.shape()[layout.rank() - from_last] > 1;
        let f16_split = |layout: &Layout, [m, n]: [bool; 2], bytes| {
            Self::Own(bytes, [has(layout, 4), has(layout, 3), m, n, true], Length::Padded)
        };
        let splits = stored_splits(problem, caps);
        let sums = (splits > 0).then_some(Self::Own(4 * splits as usize, OF_C, Length::Exact));
        if !problem.is_f16_split() || layouts.c.is_empty() {
            return [sums, None, None, None];
        }
        let (bytes, cross) = match problem.precision {
            Precision::Split => (4, Some(Self::Own(4, OF_C, Length::Exact))),
            Precision::Fast | Precision::Strict => (2, None),
        };
        let [a, b] = [(&layouts.a, [true, false]), (&layouts.b, [false, true])]
            .map(|(layout, outer)| f16_split(layout, outer, bytes));
        [sums, Some(a), Some(b), cross]
    }

    /// The largest size of this buffer that the device can bind. Windows leave room for [`SLACK`].
    fn allowed(&self, caps: &Caps) -> u64 {
        match self {
            Self::Window(..) => caps.limits.binding_bytes.saturating_sub(SLACK),
            Self::Own(..) => kernel::max_buffer_bytes(caps),
        }
    }
}

/// The number of splits whose sums one launch stores for the next: those that the caller requested; 1 if a second launch
/// applies the epilogue; otherwise 0.
fn stored_splits(problem: &GemmProblem, caps: &Caps) -> u32 {
    let k = problem.dims.k as usize;
    let (scaled, k) = match problem.precision {
        _ if !problem.is_f16_split() => (0, k),
        Precision::Split => (3, 2 * k.next_multiple_of(ROW_MULTIPLE as usize)),
        Precision::Fast | Precision::Strict => (2, k.next_multiple_of(ROW_MULTIPLE as usize)),
    };
    let extras = problem.extra_bindings() + scaled;
    let is_separate = extras > 0 && 3 + extras > caps.limits.storage_bindings;
    match problem.split {
        SplitK::Splits(splits) if splits > 1 && problem.may_split_k() => max_splits(k, splits),
        _ => u32::from(is_separate),
    }
}

fn cut(extent: usize, panel: usize) -> Vec<Range<usize>> {
    let panel = panel.max(1);
    (0..extent.div_ceil(panel).max(1)).map(|i| i * panel..((i + 1) * panel).min(extent)).collect()
}

/// The strides along each of [`AXES`] of an operand whose last two axes are `last`.
fn strides_of(layout: &Layout, last: [ProductAxis; 2]) -> [usize; 5] {
    let axes = [ProductAxis::Batch0, ProductAxis::Batch1].into_iter().chain(last);
    let mut strides = [0; 5];
    for (axis, from_last) in axes.zip([4, 3, 2, 1]) {
        strides[AXES.iter().position(|known| *known == axis).unwrap_or(0)] = stride(layout, from_last);
    }
    strides
}

impl Panel {
    /// The layouts of the operands, narrowed to the block and to this range of k.
    pub(super) fn of(&self, layouts: &Layouts, d: &GemmDims, k: &Range<usize>) -> Result<Layouts> {
        let [.., m, n] = &self.ranges;
        let Layouts { a, b, c, bias, residual, row_scale, column_scale } = layouts;
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
            row_scale: row_scale.map(|scale| scale.slice(0, m.clone())).transpose()?,
            column_scale: column_scale.map(|scale| scale.slice(0, n.clone())).transpose()?,
        })
    }

    /// Narrows the axes of a layout that are not broadcast.
    fn narrow(&self, layout: &Layout, rows: &Range<usize>, cols: &Range<usize>) -> Result<Layout> {
        self.cuts(layout, rows, cols).try_fold(*layout, |narrowed, (axis, range)| narrowed.slice(axis, range))
    }

    /// The axes of a layout that are not broadcast, with the range of each.
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
            let is_broadcast = from_last > 2 && layout.shape()[axis] == 1;
            (!is_broadcast).then_some((axis, range))
        })
    }
}
