//! A checked operation along an axis, as plain data.

use crate::layout::{DType, Layout, MAX_RANK, dim};
use crate::ops::vectors::{Moves, per_vector};
use crate::{Error, Result};

/// Invocations per workgroup, if the device allows them.
pub(super) const LANES: u32 = 256;
/// With this many rows, one invocation per row is enough.
const MANY_ROWS: usize = 4096;

/// The uniform of `shaders/ops/reduce.wgsl` and `shaders/ops/softmax.wgsl` (`shaders/ops/axis.wgsl`), in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct AxisDims {
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

/// A function along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AxisFunction {
    /// The sum. It removes the axis.
    Sum,
    /// The softmax. It keeps the axis.
    Softmax,
    /// The largest absolute value. It removes the axis.
    MaxAbs,
    /// The sum of squares. It removes the axis.
    SumSquares,
}

impl AxisFunction {
    /// Every function.
    pub const ALL: [Self; 4] = [Self::Sum, Self::Softmax, Self::MaxAbs, Self::SumSquares];

    /// The name in errors and plans.
    pub(super) fn op(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Softmax => "softmax",
            Self::MaxAbs => "max_abs",
            Self::SumSquares => "sum_squares",
        }
    }
}

/// A checked operation along an axis: the axis exists, and every size is below $2^{31}$. The result is contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AxisProblem {
    /// The shaders' uniform.
    pub(crate) dims: AxisDims,
    /// Type of all elements.
    pub(crate) dtype: DType,
    /// The function.
    pub(crate) function: AxisFunction,
    /// Axis of the operand.
    pub(crate) axis: usize,
}

impl AxisProblem {
    /// The shader's uniform.
    #[must_use]
    pub fn dims(&self) -> &AxisDims {
        &self.dims
    }

    /// `function` along an axis of `a`, a view of `dtype` elements. There must be at least one row, and rows of a
    /// softmax must not be empty.
    ///
    /// # Errors
    /// [`Error::Shape`] if `a` has no such axis; [`Error::Limit`] if a size is $2^{31}$ or more.
    pub fn new(function: AxisFunction, a: &Layout, axis: usize, dtype: DType) -> Result<Self> {
        let op = function.op();
        check_axis(op, a, axis)?;
        let stride = |axis: usize| if a.shape()[axis] > 1 { a.strides()[axis] } else { 0 };
        let length = a.shape()[axis];
        let mut dims = AxisDims {
            a_offset: a.offset_in_window(dtype),
            a_stride: dim(op, stride(axis))?,
            length: dim(op, length)?,
            ..AxisDims::default()
        };
        let mut c_stride = if function == AxisFunction::Softmax { length } else { 1 };
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
        // Consecutive lanes read neighbours: along the axis if it has the smallest stride, otherwise across rows, if
        // there are enough rows.
        let outer = (0..a.rank()).any(|other| a.shape()[other] > 1 && stride(other) < stride(axis));
        let problem = Self { dims, dtype, function, axis };
        let group = match problem.moves() {
            Moves::Elements => 4,
            Moves::Vectors => per_vector(dtype),
        };
        dims.lanes = match function {
            AxisFunction::Sum | AxisFunction::MaxAbs | AxisFunction::SumSquares
                if outer && rows >= MANY_ROWS =>
            {
                1
            }
            _ => dims.length.div_ceil(group).max(1).next_power_of_two().min(LANES),
        };
        Ok(Self { dims, ..problem })
    }

    /// How the kernel moves elements: those of the operand, and those of a softmax's result.
    pub(super) fn moves(&self) -> Moves {
        let d = &self.dims;
        let axes = d.axes[..d.rank as usize].iter().filter(|[extent, ..]| *extent > 1);
        let starts = axes.flat_map(|&[_, c, a, _]| match self.function {
            AxisFunction::Softmax => [a, c],
            AxisFunction::Sum | AxisFunction::MaxAbs | AxisFunction::SumSquares => [a, 0],
        });
        Moves::of(self.dtype, [d.a_stride], starts.chain([d.a_offset]))
    }

    /// The layout of A.
    pub(super) fn layout(&self) -> Result<Layout> {
        let d = &self.dims;
        let others = d.axes[..d.rank as usize].iter().rev().map(|axis| [axis[0], axis[2]]);
        let mut axes: Vec<[usize; 2]> = others.map(|axis| axis.map(|size| size as usize)).collect();
        axes.insert(self.axis, [d.length as usize, d.a_stride as usize]);
        let [shape, strides]: [Vec<usize>; 2] = [0, 1].map(|i| axes.iter().map(|axis| axis[i]).collect());
        Layout::new(self.function.op(), &shape, &strides, d.a_offset as usize, usize::MAX)
    }
}

/// Checks that `a` has this axis.
pub(super) fn check_axis(op: &'static str, a: &Layout, axis: usize) -> Result<()> {
    if axis < a.rank() {
        return Ok(());
    }
    Err(Error::shapes(op, "the axis must be less than the number of axes", a.shape(), &[axis]))
}
