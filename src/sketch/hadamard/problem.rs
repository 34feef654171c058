//! A Hadamard operator along an axis of a tensor, checked, as plain data.

use super::kernel::HadamardDims;
use crate::Result;
use crate::caps::Caps;
use crate::gemm::SeedSource;
use crate::kernel::{check_binding, max_buffer_bytes};
use crate::layout::{DType, Layout, dim};
use crate::plan::{Dims, Draft, Scalar, ScalarParameter};
use crate::sketch::operator::axis::SketchOperand;
use crate::sketch::operator::row_order::RowOrder;
use crate::sketch::operator::{Direction, OP, SCALE, Sketch};
use std::mem::offset_of;

/// A Hadamard operator or its transpose along an axis, checked: the axis has the extent of the operator's lines, and
/// every size is below $2^{31}$. The result is contiguous, in f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HadamardProblem {
    /// The uniform of a single pass that computes the whole transform.
    pub(crate) dims: HadamardDims,
    /// Whether the operator or its transpose is applied.
    pub(crate) direction: Direction,
    pub(super) operand: SketchOperand,
}

/// The inverse of the row order, as two vectors of four words. A launch takes them as scalars if it takes the seed as
/// scalars.
const UNDO: [ScalarParameter; 8] = [
    ScalarParameter::u32("undo_0"),
    ScalarParameter::u32("undo_1"),
    ScalarParameter::u32("undo_2"),
    ScalarParameter::u32("undo_3"),
    ScalarParameter::u32("undo_4"),
    ScalarParameter::u32("undo_5"),
    ScalarParameter::u32("undo_6"),
    ScalarParameter::u32("undo_7"),
];

impl HadamardProblem {
    /// The Hadamard operator `sketch`, or its transpose, along an axis of `x`, a view of `dtype` elements.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if `x` has no such axis, if the axis does not have the extent of the operator's
    /// lines, or if the other axes do not merge into three; [`Error::Limit`](crate::Error::Limit) if a size is $2^{31}$ or more.
    pub fn new(sketch: &Sketch, direction: Direction, x: &Layout, axis: usize, dtype: DType) -> Result<Self> {
        let operand = SketchOperand::new(sketch, direction, x, axis, dtype)?;
        let dims = HadamardDims {
            low_bits: 0,
            bits: sketch.padded().trailing_zeros(),
            shift: RowOrder::new(sketch).shift(),
            tag: sketch.tag(),
            column_lanes: 1,
            ..HadamardDims::default()
        };
        Ok(Self { dims: Self::placed(dims, &operand)?, direction, operand })
    }

    /// The same problem with the seed from another place.
    #[must_use]
    pub fn seeded(mut self, seed: SeedSource) -> Self {
        [self.dims.seed_low, self.dims.seed_high] = seed.words();
        self.operand.seed = seed;
        self
    }

    /// The same operator along the same axis of a window of x.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(super) fn of_window(&self, x: &Layout) -> Result<Self> {
        let operand = self.operand.window(x);
        Ok(Self { dims: Self::placed(self.dims, &operand)?, operand, ..*self })
    }

    /// These dims with the axes of an operand.
    fn placed(dims: HadamardDims, operand: &SketchOperand) -> Result<HadamardDims> {
        let layout = operand.steps()?;
        let size = |size: usize| dim(OP, size);
        let [columns, inner, outer] = [0, 1, 2].map(|axis| layout.others.get(axis));
        size(layout.shape.iter().product())?;
        Ok(HadamardDims {
            rows_in: size(layout.extents[0])?,
            rows_out: size(layout.extents[1])?,
            x_offset: operand.x.offset_in_window(operand.dtype),
            x_row: size(layout.strides[0])?,
            x_column: size(columns.strides[0])?,
            x_batch0: size(inner.strides[0])?,
            x_batch1: size(outer.strides[0])?,
            y_offset: 0,
            y_row: size(layout.strides[1])?,
            y_column: size(columns.strides[1])?,
            y_batch0: size(inner.strides[1])?,
            y_batch1: size(outer.strides[1])?,
            columns: size(columns.extent)?,
            batch0: size(inner.extent)?,
            batches: size(inner.extent * outer.extent)?,
            ..dims
        })
    }

    /// The scalars that a launch takes: the seed, the scale, and the inverse of the row order. If a tensor holds the seed,
    /// kernels compute the order themselves.
    pub(super) fn scalars(&self) -> Vec<ScalarParameter> {
        let undo = if self.operand.seed == SeedSource::Scalars { &UNDO[..] } else { &[] };
        Sketch::scalars(self.operand.seed).into_iter().chain(undo.iter().copied()).collect()
    }

    /// The values of these scalars for this operator.
    pub(in crate::sketch) fn numbers(&self, sketch: &Sketch) -> Vec<Scalar> {
        let undo = RowOrder::new(sketch).inverse().into_iter().flatten().map(Scalar::from);
        let undo = undo.filter(|_| self.operand.seed == SeedSource::Scalars);
        sketch.numbers(self.operand.seed).into_iter().chain(undo).collect()
    }

    /// The uniform of a pass, with the offsets at which a launch writes the scalars.
    pub(super) fn uniform(dims: &HadamardDims, draft: &Draft<'_>) -> Dims {
        let seed = [offset_of!(HadamardDims, seed_low), offset_of!(HadamardDims, seed_high)];
        let uniform = SeedSource::put(Dims::of(dims), seed, draft);
        let uniform = draft.put(uniform, SCALE, offset_of!(HadamardDims, scale));
        UNDO.into_iter().enumerate().fold(uniform, |uniform, (word, scalar)| {
            draft.put(uniform, scalar, offset_of!(HadamardDims, undo) + 4 * word)
        })
    }

    /// Number of elements that the bindings of operand and result need: one more than the last index used.
    #[must_use]
    pub fn binding_elements(&self) -> [u64; 2] {
        let d = &self.dims;
        let last = |steps: [(u32, u32); 4]| {
            let steps =
                steps.iter().map(|&(extent, stride)| u64::from(extent.saturating_sub(1)) * u64::from(stride));
            steps.sum::<u64>() + 1
        };
        let outer = d.batches.checked_div(d.batch0).unwrap_or(0);
        let x = [(d.rows_in, d.x_row), (d.columns, d.x_column), (d.batch0, d.x_batch0), (outer, d.x_batch1)];
        let y = [(d.rows_out, d.y_row), (d.columns, d.y_column), (d.batch0, d.y_batch0), (outer, d.y_batch1)];
        [u64::from(d.x_offset) + last(x), u64::from(d.y_offset) + last(y)]
    }

    /// Row stride of the scratch buffer between passes. NOTE: with many columns it is an odd number of cache lines, so
    /// that rows at a distance of a power of two do not map to the same cache set.
    pub(super) fn pitch(&self) -> u32 {
        match self.dims.columns {
            few @ ..64 => few,
            columns => (columns.div_ceil(16) | 1) * 16,
        }
    }

    /// Number of elements of the scratch buffer between passes: each column has the length of the transform.
    #[must_use]
    pub fn scratch_elements(&self) -> u64 {
        (u64::from(self.pitch()) * u64::from(self.dims.batches)) << self.dims.bits
    }

    /// The problem in pieces. If the scratch buffer is too large for a binding, the longest of the other axes is halved
    /// until it fits.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if the operand or the result is larger than the device can bind. Then a plan has
    /// windows.
    pub fn pieces(&self, caps: &Caps) -> Result<Vec<Self>> {
        for (elements, dtype) in self.binding_elements().into_iter().zip([self.operand.dtype, DType::F32]) {
            check_binding(OP, caps, elements, dtype)?;
        }
        let mut pieces = Vec::new();
        self.split_until(max_buffer_bytes(caps) / 4, &mut pieces);
        Ok(pieces)
    }

    fn split_until(&self, elements: u64, pieces: &mut Vec<Self>) {
        let d = self.dims;
        let outer = d.batches / d.batch0;
        let longest = d.columns.max(d.batch0).max(outer);
        if self.scratch_elements() <= elements || longest == 1 {
            return pieces.push(*self);
        }
        let (half, rest) = (longest / 2, longest - longest / 2);
        let [mut near, mut far] = [d; 2];
        let [x, y] = if longest == d.columns {
            (near.columns, far.columns) = (half, rest);
            [d.x_column, d.y_column]
        } else if longest == d.batch0 {
            (near.batch0, far.batch0) = (half, rest);
            (near.batches, far.batches) = (half * outer, rest * outer);
            [d.x_batch0, d.y_batch0]
        } else {
            (near.batches, far.batches) = (half * d.batch0, rest * d.batch0);
            [d.x_batch1, d.y_batch1]
        };
        // Bindings have less than 2^31 elements, so these offsets fit.
        far.x_offset += half * x;
        far.y_offset += half * y;
        for dims in [near, far] {
            Self { dims, ..*self }.split_until(elements, pieces);
        }
    }
}
