//! A Hadamard operator along an axis of a tensor, checked, as plain data.

use super::kernel::HadamardDims;
use crate::Result;
use crate::caps::Caps;
use crate::gemm::SeedSource;
use crate::kernel::{check_binding, max_buffer_bytes};
use crate::layout::{DType, Layout, dim};
use crate::plan::{Dims, Draft, Scalar, ScalarParameter};
use crate::sketch::operator::axis::SketchOperand;
use crate::sketch::operator::row_order::{RowOrder, shift};
use crate::sketch::operator::{Direction, OP, SCALE, Sketch};
use std::mem::offset_of;

/// A Hadamard operator or its transpose along an axis, checked: the axis has the extent of the operator's lines, and
/// every size is below $2^{31}$. The result is contiguous, in f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HadamardProblem {
    /// Bits of the row index.
    bits: u32,
    /// Last word of the Philox counter of the signs.
    tag: u32,
    /// Whether the operator or its transpose is applied.
    pub(super) direction: Direction,
    pub(super) operand: SketchOperand,
}

/// A part of a transform: all lines, or some of them. The passes of one part take one scratch buffer.
#[derive(Clone, Copy, Debug)]
pub struct HadamardPiece {
    pub(super) problem: HadamardProblem,
    /// The uniform of a single pass that computes the whole piece.
    pub(super) dims: HadamardDims,
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
        let problem = Self { bits: sketch.padded().trailing_zeros(), tag: sketch.tag(), direction, operand };
        problem.dims().map(|_| problem)
    }

    /// The same problem with the seed from another place.
    #[must_use]
    pub fn seeded(self, seed: SeedSource) -> Self {
        Self { operand: SketchOperand { seed, ..self.operand }, ..self }
    }

    /// The same operator along the same axis of a window of x.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(super) fn of_window(&self, x: &Layout) -> Result<Self> {
        let part = Self { operand: self.operand.window(x), ..*self };
        part.dims().map(|_| part)
    }

    /// The uniform of a single pass that computes the whole transform.
    fn dims(&self) -> Result<HadamardDims> {
        let operand = &self.operand;
        let layout = operand.steps()?;
        let size = |size: usize| dim(OP, size);
        let [columns, inner, outer] = [0, 1, 2].map(|axis| layout.others.get(axis));
        let [seed_low, seed_high] = operand.seed.words();
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
            bits: self.bits,
            shift: shift(self.bits),
            seed_low,
            seed_high,
            tag: self.tag,
            column_lanes: 1,
            ..HadamardDims::default()
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

    /// The problem in pieces. If the scratch buffer is too large for a binding, the longest of the other axes is halved
    /// until it fits.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if the operand or the result is larger than the device can bind. Then a plan has
    /// windows.
    pub fn pieces(&self, caps: &Caps) -> Result<Vec<HadamardPiece>> {
        check_binding(OP, caps, self.operand.x.span().end as u64, self.operand.dtype)?;
        check_binding(OP, caps, self.operand.elements(), DType::F32)?;
        let mut pieces = Vec::new();
        HadamardPiece { problem: *self, dims: self.dims()? }
            .split_until(max_buffer_bytes(caps) / 4, &mut pieces);
        Ok(pieces)
    }
}

impl HadamardPiece {
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

    fn split_until(self, elements: u64, pieces: &mut Vec<Self>) {
        let d = self.dims;
        let outer = d.batches / d.batch0;
        let longest = d.columns.max(d.batch0).max(outer);
        if self.scratch_elements() <= elements || longest == 1 {
            return pieces.push(self);
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
            Self { dims, ..self }.split_until(elements, pieces);
        }
    }
}
