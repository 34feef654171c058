//! Applying sparse operators: what to compute, as plain data.

use crate::layout::{DType, Layout, dim};
use crate::plan::Scalar;
use crate::sketch::along::{Along, BESIDE_AT_MOST};
use crate::sketch::apply::Way;
use crate::sketch::operator::{Draw, Lines, OP, Sketch};
use crate::sketch::philox::halves;
use crate::{Error, Result};

/// The uniform of the shaders of sparse operators (`shaders/sketch/sparse.wgsl`), in elements. Of a problem, the seed and the
/// scale are 0: they are scalars of the call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct SparseDims {
    pub lines: u32,
    pub places: u32,
    pub nonzeros: u32,
    pub different: u32,
    pub seed0: u32,
    pub seed1: u32,
    pub tag: u32,
    /// The bits of an f32, which could not be compared.
    pub scale: u32,
    pub columns: u32,
    pub extent0: u32,
    pub extent1: u32,
    pub x_offset: u32,
    pub x_axis: u32,
    pub x_stride0: u32,
    pub x_stride1: u32,
    pub x_stride2: u32,
    pub y_axis: u32,
    pub y_stride0: u32,
    pub y_stride1: u32,
    pub y_stride2: u32,
    pub rows: u32,
    pub width: u32,
    pub part: u32,
    pub chunk: u32,
    pub parts: u32,
    pub y_part: u32,
    pub reserved0: u32,
    pub reserved1: u32,
}

/// What a line of an operator is in its application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SparseForm {
    /// A row of the result, which is the sum of what is at the line's places.
    Gather,
    /// A row of the operand, which is added to the result at the line's places.
    Scatter,
}

/// A sparse operator along an axis of a tensor, checked: extents agree, and every size is below $2^{31}$.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SparseProblem {
    /// The sizes, as the shaders have them, but for those that a plan decides.
    pub(crate) dims: SparseDims,
    /// The type of the operand.
    pub(crate) dtype: DType,
    /// What lines are.
    pub(crate) form: SparseForm,
    /// Where the operand's elements lie, from the start of its aligned window.
    pub(crate) x: Layout,
    /// The axis along which the operator is applied.
    pub(crate) axis: usize,
}

impl SparseProblem {
    /// `sketch` along an axis of `x`, a view of `dtype` elements. The result is row-major without gaps, and not empty.
    ///
    /// # Errors
    /// [`Error::Input`] if the operator is not sparse; [`Error::Shape`] if there is no such axis, if it is not of the
    /// operator's extent, if the other axes do not step as three, or if there is nothing to compute; [`Error::Limit`] if
    /// a size is $2^{31}$ or more.
    pub fn new(sketch: &Sketch, way: Way, x: &Layout, axis: usize, dtype: DType) -> Result<Self> {
        let [d, n] = sketch.shape();
        let [from, to] = if way == Way::Forward { [n, d] } else { [d, n] };
        let x = x.in_window(dtype);
        let along = Along::of(&x, axis, to)?;
        if along.extents[0] != from || along.beside.len() > BESIDE_AT_MOST {
            let rule = "the axis must be as long as the operator has it, the others step as three";
            return Err(Error::shapes(OP, rule, x.shape(), &sketch.shape()));
        }
        if x.is_empty() || to == 0 {
            let rule = "there must be something to apply the operator to";
            return Err(Error::shapes(OP, rule, x.shape(), &sketch.shape()));
        }
        let dims = Self::dims_of(sketch, way, &along, x.offset_in_window(dtype))?;
        Ok(Self { dims: dims.0, dtype, form: dims.1, x, axis })
    }

    fn dims_of(sketch: &Sketch, way: Way, along: &Along, x_offset: u32) -> Result<(SparseDims, SparseForm)> {
        let sparse = sketch.sparse().ok_or_else(|| Error::input("sketch", "the operator is not sparse"))?;
        // The operator's columns go with the operand's rows, and the adjoint's with the result's.
        let form = match (way, sparse.lines) {
            (Way::Forward, Lines::Columns) | (Way::Adjoint, Lines::Rows) => SparseForm::Scatter,
            (Way::Forward, Lines::Rows) | (Way::Adjoint, Lines::Columns) => SparseForm::Gather,
        };
        let lines = along.extents[usize::from(form == SparseForm::Gather)];
        let beside = |i: usize| along.beside.get(i);
        let extent = |i: usize| dim(OP, beside(i).map_or(1, |axis| axis.extent));
        let x = |i: usize| dim(OP, beside(i).map_or(0, |axis| axis.x));
        let y = |i: usize| dim(OP, beside(i).map_or(0, |axis| axis.y));
        dim(OP, along.shape.iter().product())?;
        let dims = SparseDims {
            lines: dim(OP, lines)?,
            places: sparse.places,
            nonzeros: sparse.nonzeros,
            different: u32::from(sparse.draw == Draw::Different),
            tag: sparse.tag,
            columns: dim(OP, along.beside.iter().map(|axis| axis.extent).product())?,
            extent0: extent(0)?,
            extent1: extent(1)?,
            x_offset,
            x_axis: dim(OP, along.strides[0])?,
            x_stride0: x(0)?,
            x_stride1: x(1)?,
            x_stride2: x(2)?,
            y_axis: dim(OP, along.strides[1])?,
            y_stride0: y(0)?,
            y_stride1: y(1)?,
            y_stride2: y(2)?,
            ..SparseDims::default()
        };
        Ok((dims, form))
    }

    /// The numbers that a call passes: the seed and the scale.
    pub(super) fn scalars(sketch: &Sketch) -> [Scalar; 3] {
        let [low, high] = halves(sketch.seed()).map(Scalar::from);
        #[expect(clippy::cast_possible_truncation, reason = "it is rounded once")]
        let scale = sketch.scale() as f32;
        [low, high, scale.into()]
    }

    /// Rows of operand and result.
    pub(super) fn rows(&self) -> [u32; 2] {
        let SparseDims { lines, places, .. } = self.dims;
        if self.form == SparseForm::Scatter { [lines, places] } else { [places, lines] }
    }

    /// Whether columns lie side by side in pairs at even places, two of f32 in 64 bits.
    pub(super) fn has_pairs(&self) -> bool {
        let d = &self.dims;
        let even = [d.extent0, d.x_offset, d.x_axis, d.x_stride1, d.x_stride2].iter().all(|n| n % 2 == 0);
        self.dtype == DType::F32 && [d.x_stride0, d.y_stride0] == [1, 1] && even
    }

    /// Where the result's elements lie: row-major, without gaps.
    pub(super) fn result(&self) -> Result<Layout> {
        let mut shape = self.x.shape().to_vec();
        shape[self.axis] = self.rows()[1] as usize;
        Layout::contiguous(OP, &shape)
    }

    /// Elements of the result.
    #[must_use]
    pub fn elements(&self) -> u64 {
        u64::from(self.rows()[1]) * u64::from(self.dims.columns)
    }
}
