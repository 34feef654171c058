//! Panels: a product whose operands are too large to bind is cut into products whose operands are windows of them.

use crate::caps::Caps;
use crate::gemm::f16_split::ROW_MULTIPLE;
use crate::gemm::problem::{GemmProblem, GemmTypes, Layouts, MatrixLayout, OP, SplitK, max_splits};
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

/// The number of axes of a product: batch, batch, m, n, k.
const AXES: usize = 5;

/// The extents of a product and of its panels along each of its axes.
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
    /// A window of an operand: its strides along the product's axes, and its type.
    Window([usize; 5], DType),
    /// A contiguous temporary of the panel: bytes per element, which of the product's axes it has, and its length along k.
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
        let mut panels = Self::whole(problem);
        let bound = PanelBuffer::of(problem, caps);
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
            let widest = (0..AXES).filter(|&i| panels.panel[i] > 1).max_by_key(reach);
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
        let what = "the number of panels of a product";
        Error::check_limit(OP, what, self.count() as u64, MAX_PANELS as u64).map(|()| self)
    }

    /// A single panel: the whole product.
    fn whole(problem: &GemmProblem) -> Self {
        let [batch0, batch1, m, n] = problem.layouts.c.shape;
        let extents = [batch0, batch1, m, n, problem.k()].map(|extent| extent as usize);
        Self { extents, panel: extents }
    }

    /// Whether the device can bind the temporaries of the whole product.
    pub(super) fn own_fits(problem: &GemmProblem, caps: &Caps) -> bool {
        let (whole, own) = (Self::whole(problem), PanelBuffer::own(problem, caps));
        own.into_iter().flatten().all(|bound| whole.bytes(&bound) <= bound.allowed(caps))
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

    /// The strides of this buffer along the product's axes, in elements.
    fn strides_in(&self, bound: &PanelBuffer) -> [usize; 5] {
        match *bound {
            PanelBuffer::Window(strides, _) => strides,
            PanelBuffer::Own(_, axes, length) => {
                let (extents, mut strides, mut stride) = (self.padded(length), [0; 5], 1usize);
                for i in (0..AXES).rev().filter(|&i| axes[i]) {
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
        (0..AXES).map(|axis| self.extents[axis].div_ceil(self.panel[axis].max(1)).max(1)).product()
    }
}

/// Which of the product's axes C has.
const OF_C: [bool; 5] = [true, true, true, true, false];

impl PanelBuffer {
    /// The buffers that a product binds.
    fn of(problem: &GemmProblem, caps: &Caps) -> Vec<Self> {
        let Layouts { a, b, c, extras } = &problem.layouts;
        let GemmTypes { ab, c: of_c, .. } = problem.types;
        let steps = |of: &MatrixLayout| of.strides.map(|stride| stride as usize);
        let like_c = |layout: &MatrixLayout, dtype| {
            let [batch0, batch1, m, n] = steps(layout);
            Self::Window([batch0, batch1, m, n, 0], dtype)
        };
        let ([batch0, batch1, m, k], of_b) = (steps(a), steps(b));
        let a = Self::Window([batch0, batch1, m, 0, k], ab);
        let [batch0, batch1, k, n] = of_b;
        let operands = [a, Self::Window([batch0, batch1, 0, n, k], ab), like_c(c, of_c)];
        let of_types = problem.types_of_extras();
        let [bias, others @ ..] = [0, 1, 2, 3].map(|i| extras[i].map(|of| like_c(&of, of_types[i])));
        let extras = others.into_iter().chain([bias]).chain(Self::own(problem, caps));
        operands.into_iter().chain(extras.flatten()).collect()
    }

    /// The product's temporaries: the sums of splits of k, both f16 splits, and the sums of cross terms.
    fn own(problem: &GemmProblem, caps: &Caps) -> [Option<Self>; 4] {
        let Layouts { a, b, c, .. } = &problem.layouts;
        let f16_split = |layout: &MatrixLayout, [m, n]: [bool; 2], bytes| {
            let has = |axis: usize| layout.shape[axis] > 1;
            Self::Own(bytes, [has(0), has(1), m, n, true], Length::Padded)
        };
        let splits = stored_splits(problem, caps);
        let sums = (splits > 0).then_some(Self::Own(4 * splits as usize, OF_C, Length::Exact));
        if !problem.is_f16_split() || c.shape.contains(&0) {
            return [sums, None, None, None];
        }
        let (bytes, cross) = match problem.precision {
            Precision::Split => (4, Some(Self::Own(4, OF_C, Length::Exact))),
            Precision::Fast | Precision::Strict => (2, None),
        };
        let [a, b] =
            [(a, [true, false]), (b, [false, true])].map(|(layout, outer)| f16_split(layout, outer, bytes));
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
    let k = problem.k() as usize;
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

impl Panel {
    /// The layouts of the operands, narrowed to the block and to this range of k.
    pub(super) fn of(&self, layouts: &Layouts<Layout>, k: &Range<usize>) -> Result<Layouts<Layout>> {
        let [.., m, n] = &self.ranges;
        let Layouts { a, b, c, mut extras } = *layouts;
        for extra in extras.iter_mut().flatten() {
            *extra = self.narrow(extra, m, n)?;
        }
        let (a, b, c) = (self.narrow(&a, m, k)?, self.narrow(&b, k, n)?, self.narrow(&c, m, n)?);
        Ok(Layouts { a, b, c, extras })
    }

    /// Narrows the axes of a layout, except those of one index, along which it may be broadcast.
    fn narrow(&self, layout: &Layout, rows: &Range<usize>, columns: &Range<usize>) -> Result<Layout> {
        let [batch0, batch1, ..] = &self.ranges;
        let ranges = [batch0, batch1, rows, columns].into_iter().enumerate();
        ranges
            .filter(|(axis, _)| layout.shape()[*axis] != 1)
            .try_fold(*layout, |narrowed, (axis, range)| narrowed.slice(axis, range.clone()))
    }
}
