//! Hadamard operators: $H_{N} D$ of every line, some of whose rows are kept; what to compute, as plain data.

use super::kernel::HadamardDims;
use super::rows::RowOrder;
use crate::caps::Caps;
use crate::kernel::{check_binding, own_bytes};
use crate::layout::{DType, Layout, dim};
use crate::plan::{Dims, Scalar, ScalarParameter};
use crate::sketch::along::{Along, Beside};
use crate::sketch::apply::Way;
use crate::sketch::operator::{OP, Sketch};
use crate::sketch::philox::halves;
use crate::{Error, Result};
use std::mem::offset_of;

/// A Hadamard operator or its transpose along an axis, checked: the axis is as long as what the operator is applied to,
/// and every size is below $2^{31}$. The result is row-major without gaps, in f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HadamardProblem {
    /// The sizes, as a pass has them that does it all.
    pub(crate) dims: HadamardDims,
    /// The type of the operand's elements.
    pub(crate) dtype: DType,
    /// Which way the operator is applied.
    pub(crate) way: Way,
    /// Where the operand's elements lie, from the start of its aligned window.
    pub(crate) x: Layout,
    /// The axis along which the operator is applied.
    pub(crate) axis: usize,
}

/// The numbers that a call passes: what undoes the order of rows, four words of each half; the scale; the seed.
pub(super) const SCALARS: [ScalarParameter; 11] = [
    ScalarParameter::u32("undo_0"),
    ScalarParameter::u32("undo_1"),
    ScalarParameter::u32("undo_2"),
    ScalarParameter::u32("undo_3"),
    ScalarParameter::u32("undo_4"),
    ScalarParameter::u32("undo_5"),
    ScalarParameter::u32("undo_6"),
    ScalarParameter::u32("undo_7"),
    ScalarParameter::f32("scale"),
    ScalarParameter::u32("seed_low"),
    ScalarParameter::u32("seed_high"),
];

impl HadamardProblem {
    /// `sketch`, which is a Hadamard operator, along an axis of `x`, a view of `dtype` elements.
    ///
    /// # Errors
    /// [`Error::Shape`] if there is no such axis, it is not as long as it must be, or the other axes are more than
    /// three that do not step as one; [`Error::Limit`] if a size is $2^{31}$ or more.
    pub fn new(sketch: &Sketch, way: Way, x: &Layout, axis: usize, dtype: DType) -> Result<Self> {
        let [d, n] = sketch.shape();
        let [from, to] = if way == Way::Forward { [n, d] } else { [d, n] };
        let x = x.in_window(dtype);
        let along = Along::of(&x, axis, to)?;
        if along.extents[0] != from || along.beside.len() > 3 {
            let rule = "the axis must be as long as what the operator is applied to";
            return Err(Error::shapes(OP, rule, x.shape(), &sketch.shape()));
        }
        let dims = Self::dims_of(sketch, &along, x.offset_in_window(dtype))?;
        Ok(Self { dims, dtype, way, x, axis })
    }

    fn dims_of(sketch: &Sketch, along: &Along, x_offset: u32) -> Result<HadamardDims> {
        let once = Beside { extent: 1, x: 0, y: 0 };
        let beside = |axis: usize| along.beside.get(axis).copied().unwrap_or(once);
        let size = |size: usize| dim(OP, size);
        let [columns, inner, outer] = [beside(0), beside(1), beside(2)];
        size(along.shape.iter().product())?;
        Ok(HadamardDims {
            rows_in: size(along.extents[0])?,
            rows_out: size(along.extents[1])?,
            x_offset,
            x_row: size(along.strides[0])?,
            x_column: size(columns.x)?,
            x_batch0: size(inner.x)?,
            x_batch1: size(outer.x)?,
            y_offset: 0,
            y_row: size(along.strides[1])?,
            y_column: size(columns.y)?,
            y_batch0: size(inner.y)?,
            y_batch1: size(outer.y)?,
            columns: size(columns.extent)?,
            batch0: size(inner.extent)?,
            batches: size(inner.extent * outer.extent)?,
            low_bits: 0,
            bits: sketch.padded().trailing_zeros(),
            shift: RowOrder::new(sketch).shift(),
            tag: sketch.tag(),
            column_lanes: 1,
            ..HadamardDims::default()
        })
    }

    /// The numbers that a call passes, in the order of their names.
    pub(super) fn scalars(sketch: &Sketch) -> Vec<Scalar> {
        #[expect(clippy::cast_possible_truncation, reason = "it is rounded once")]
        let scale = sketch.scale() as f32;
        let undo = RowOrder::new(sketch).inverse().into_iter().flatten().map(Scalar::from);
        undo.chain([scale.into()]).chain(halves(sketch.seed()).map(Scalar::from)).collect()
    }

    /// The uniform of a pass, with the places of these numbers.
    pub(super) fn uniform(dims: &HadamardDims) -> Dims {
        let undo = (0..8).map(|word| offset_of!(HadamardDims, undo) + 4 * word);
        let rest = [
            offset_of!(HadamardDims, scale),
            offset_of!(HadamardDims, seed_low),
            offset_of!(HadamardDims, seed_high),
        ];
        let places = undo.chain(rest).enumerate();
        places.fold(Dims::of(dims), |uniform, (index, offset)| uniform.scalar(offset, index))
    }

    /// Where the result's elements lie: row-major, without gaps.
    pub(super) fn result(&self) -> Result<Layout> {
        let mut shape = self.x.shape().to_vec();
        shape[self.axis] = self.dims.rows_out as usize;
        Layout::contiguous(OP, &shape)
    }

    /// Elements of the bindings of operand and result, to behind the last that is used.
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

    /// From one row to the next of what passes leave each other. NOTE: of many columns an odd number of cache lines, so
    /// that rows a power of two apart do not meet in one set of a cache.
    pub(super) fn pitch(&self) -> u32 {
        match self.dims.columns {
            few @ ..64 => few,
            columns => (columns.div_ceil(16) | 1) * 16,
        }
    }

    /// Elements that passes leave each other: of every column as many as the transform is long.
    #[must_use]
    pub fn scratch_elements(&self) -> u64 {
        (u64::from(self.pitch()) * u64::from(self.dims.batches)) << self.dims.bits
    }

    /// The problem, in halves of its longest axis where what its passes leave each other would be more than a device
    /// can bind.
    ///
    /// # Errors
    /// [`Error::Limit`] if operand or result is larger than this device can bind.
    pub fn pieces(&self, caps: &Caps) -> Result<Vec<Self>> {
        for (elements, dtype) in self.binding_elements().into_iter().zip([self.dtype, DType::F32]) {
            check_binding(OP, caps, elements, dtype)?;
        }
        let mut pieces = Vec::new();
        self.halve_until(own_bytes(caps) / 4, &mut pieces);
        Ok(pieces)
    }

    fn halve_until(&self, elements: u64, pieces: &mut Vec<Self>) {
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
        // What is bound is below 2^31, so these are.
        far.x_offset += half * x;
        far.y_offset += half * y;
        for dims in [near, far] {
            Self { dims, ..*self }.halve_until(elements, pieces);
        }
    }
}
