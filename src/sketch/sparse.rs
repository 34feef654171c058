//! Applying sparse operators: what to compute, as plain data. Nonzeros are made where they are used, from counters.

use super::along::{Along, BESIDE_AT_MOST};
use super::apply::Way;
use super::operator::{Draw, Lines, OP, Sketch};
use super::philox::halves;
use super::sparse_tile::{Tile, plan_sparse};
use crate::gemm::GemmDims;
use crate::gpu::{Caps, Problem};
use crate::kernel::Plan;
use crate::tensor::{DType, Layout, Real, Tensor, dim};
use crate::{Error, Result};

/// The uniform of the shaders of sparse operators (`shaders/common/sparse_dims.wgsl`), in elements.
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
    pub dims: SparseDims,
    /// The type of the operand.
    pub dtype: DType,
    /// What lines are.
    pub form: SparseForm,
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
        let along = Along::of(x, axis, to)?;
        if along.extents[0] != from || along.beside.len() > BESIDE_AT_MOST {
            let rule = "the axis must be as long as the operator has it, the others step as three";
            return Err(Error::shapes(OP, rule, x.shape(), &sketch.shape()));
        }
        if x.is_empty() || to == 0 {
            let rule = "there must be something to apply the operator to";
            return Err(Error::shapes(OP, rule, x.shape(), &sketch.shape()));
        }
        Self::of(sketch, way, &along, x.offset_in_window(dtype), dtype)
    }

    fn of(sketch: &Sketch, way: Way, along: &Along, x_offset: u32, dtype: DType) -> Result<Self> {
        let sparse = sketch.sparse().ok_or_else(|| Error::input("sketch", "the operator is not sparse"))?;
        // The operator's columns go with the operand's rows, and the adjoint's with the result's.
        let form = match (way, sparse.lines) {
            (Way::Forward, Lines::Columns) | (Way::Adjoint, Lines::Rows) => SparseForm::Scatter,
            (Way::Forward, Lines::Rows) | (Way::Adjoint, Lines::Columns) => SparseForm::Gather,
        };
        let lines = along.extents[usize::from(form == SparseForm::Gather)];
        let [seed0, seed1] = halves(sketch.seed());
        let beside = |i: usize| along.beside.get(i);
        let extent = |i: usize| dim(OP, beside(i).map_or(1, |axis| axis.extent));
        let x = |i: usize| dim(OP, beside(i).map_or(0, |axis| axis.x));
        let y = |i: usize| dim(OP, beside(i).map_or(0, |axis| axis.y));
        dim(OP, along.shape.iter().product())?;
        #[expect(clippy::cast_possible_truncation, reason = "the scale is rounded once")]
        let scale = sketch.scale() as f32;
        let dims = SparseDims {
            lines: dim(OP, lines)?,
            places: sparse.places,
            nonzeros: sparse.nonzeros,
            different: u32::from(sparse.draw == Draw::Different),
            seed0,
            seed1,
            tag: sparse.tag,
            scale: scale.to_bits(),
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
        Ok(Self { dims, dtype, form })
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

    /// Elements of the result.
    #[must_use]
    pub fn elements(&self) -> u64 {
        u64::from(self.rows()[1]) * u64::from(self.dims.columns)
    }

    /// Elements of the operand's binding, to behind the last that is used.
    #[must_use]
    pub fn operand_elements(&self) -> u64 {
        let d = &self.dims;
        let extent2 = d.columns / (d.extent0 * d.extent1);
        let axes = [
            (self.rows()[0], d.x_axis),
            (d.extent0, d.x_stride0),
            (d.extent1, d.x_stride1),
            (extent2, d.x_stride2),
        ];
        let last: u64 = axes.into_iter().map(|(n, stride)| u64::from(n - 1) * u64::from(stride)).sum();
        u64::from(d.x_offset) + last + 1
    }
}

impl SparseProblem {
    /// The uniforms of the launches on a device: that of the operator and, if its lines are summed in parts, that of the launch
    /// that adds up the parts.
    #[must_use]
    pub fn dims_on(&self, caps: &Caps) -> (SparseDims, Option<GemmDims>) {
        let dims = Tile::of(self, caps).dims(self);
        // Adding up parts is the same for any result: here the result is taken as one row.
        let n = self.rows()[1] * self.dims.columns;
        let (splits, alpha) = (dims.parts, self.dims.scale);
        let together =
            GemmDims { m: 1, n, batches: 1, batch1: 1, splits, ldc: n, alpha, ..GemmDims::default() };
        (dims, (splits > 1).then_some(together))
    }
}

impl Problem for SparseProblem {
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        plan_sparse(self, caps)
    }
}

pub(super) fn plan<T: Real>(sketch: &Sketch, way: Way, x: &Tensor<T>, along: &Along) -> Result<Plan> {
    let problem = SparseProblem::of(sketch, way, along, x.layout().offset_in_window(T::DTYPE), T::DTYPE)?;
    plan_sparse(&problem, x.gpu().caps())
}

pub(super) fn apply<T: Real>(sketch: &Sketch, way: Way, x: &Tensor<T>, along: &Along) -> Result<Tensor<f32>> {
    let gpu = x.gpu();
    let problem = SparseProblem::of(sketch, way, along, x.layout().offset_in_window(T::DTYPE), T::DTYPE)?;
    let planned = gpu.planned(&problem)?;
    let (dims, together) = problem.dims_on(gpu.caps());
    let y = gpu.empty(&along.shape)?;
    let (Some(reduce), Some(together)) = (planned.then(), together) else {
        gpu.launch(&planned, bytemuck::bytes_of(&dims), &[x.bind(), y.bind()])?;
        return Ok(y);
    };
    let sums = gpu.empty::<f32>([y.len() * dims.parts as usize])?;
    gpu.launch(&planned, bytemuck::bytes_of(&dims), &[x.bind(), sums.bind()])?;
    gpu.launch(reduce, bytemuck::bytes_of(&together), &[sums.bind(), y.bind()])?;
    Ok(y)
}
