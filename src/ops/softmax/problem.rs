//! A checked softmax, as plain data.

use crate::layout::{DType, Layout, MAX_RANK, dim};
use crate::ops::vectors::{Moves, per_vector};
use crate::{Error, Result};

/// Invocations per workgroup, if the device allows them.
pub(super) const LANES: u32 = 256;

/// The uniform of `shaders/ops/softmax.wgsl` (`softmax_dims.wgsl`), in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct SoftmaxDims {
    pub axes: [[u32; 4]; MAX_RANK - 1],
    pub c_offset: u32,
    pub a_offset: u32,
    pub a_stride: u32,
    pub length: u32,
    pub rows: u32,
    pub rank: u32,
    pub lanes: u32,
    pub reserved: u32,
}

/// The name in errors and plans.
pub(super) const OP: &str = "softmax";

/// A checked softmax: the axis exists, and every size is below $2^{31}$. The result is contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SoftmaxProblem {
    /// The shaders' uniform.
    pub(crate) dims: SoftmaxDims,
    /// Type of all elements.
    pub(crate) dtype: DType,
    /// Axis of the operand.
    pub(crate) axis: usize,
}

impl SoftmaxProblem {
    /// The shader's uniform.
    #[must_use]
    pub fn dims(&self) -> &SoftmaxDims {
        &self.dims
    }

    /// The softmax along an axis of `a`, a view of `dtype` elements. The view must not be empty.
    ///
    /// # Errors
    /// [`Error::Shape`] if `a` has no such axis; [`Error::Limit`] if a size is $2^{31}$ or more.
    pub fn new(a: &Layout, axis: usize, dtype: DType) -> Result<Self> {
        let op = OP;
        check_axis(op, a, axis)?;
        let stride = |axis: usize| if a.shape()[axis] > 1 { a.strides()[axis] } else { 0 };
        let length = a.shape()[axis];
        let mut dims = SoftmaxDims {
            a_offset: a.offset_in_window(dtype),
            a_stride: dim(op, stride(axis))?,
            length: dim(op, length)?,
            ..SoftmaxDims::default()
        };
        let mut c_stride = length;
        let mut rows = 1;
        let others = (0..a.rank()).rev().filter(|&other| other != axis);
        for (to, other) in dims.axes.iter_mut().zip(others) {
            let extent = a.shape()[other];
            *to = [dim(op, extent)?, dim(op, c_stride)?, dim(op, stride(other))?, 0];
            c_stride *= extent;
            rows *= extent;
            dims.rank += 1;
        }
        dim(op, c_stride)?;
        dims.rows = dim(op, rows)?;
        let problem = Self { dims, dtype, axis };
        let group = match problem.moves() {
            Moves::Elements => 4,
            Moves::Vectors => per_vector(dtype),
        };
        dims.lanes = dims.length.div_ceil(group).max(1).next_power_of_two().min(LANES);
        Ok(Self { dims, ..problem })
    }

    /// How the kernel moves elements: those of the operand, and those of a softmax's result.
    pub(super) fn moves(&self) -> Moves {
        let d = &self.dims;
        let axes = d.axes[..d.rank as usize].iter().filter(|[extent, ..]| *extent > 1);
        let starts = axes.flat_map(|&[_, c, a, _]| [a, c]);
        Moves::of(self.dtype, [d.a_stride], starts.chain([d.a_offset]))
    }

    /// The layout of A.
    pub(super) fn layout(&self) -> Result<Layout> {
        let d = &self.dims;
        let others = d.axes[..d.rank as usize].iter().rev().map(|axis| [axis[0], axis[2]]);
        let mut axes: Vec<[usize; 2]> = others.map(|axis| axis.map(|size| size as usize)).collect();
        axes.insert(self.axis, [d.length as usize, d.a_stride as usize]);
        let [shape, strides]: [Vec<usize>; 2] = [0, 1].map(|i| axes.iter().map(|axis| axis[i]).collect());
        Layout::new(OP, &shape, &strides, d.a_offset as usize, usize::MAX)
    }
}

/// Checks that `a` has this axis.
pub(super) fn check_axis(op: &'static str, a: &Layout, axis: usize) -> Result<()> {
    if axis < a.rank() {
        return Ok(());
    }
    Err(Error::shapes(op, "the axis must be less than the number of axes", a.shape(), &[axis]))
}
