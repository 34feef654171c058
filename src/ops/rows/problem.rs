//! An operation along one axis: what to compute, as plain data.

use crate::layout::{DType, Layout, MAX_RANK, dim};
use crate::{Error, Result};

/// Invocations of one workgroup, where the device allows as many.
pub(super) const LANES: u32 = 256;
/// With as many rows as this, each has work for one invocation alone. It is this family's own tuning and no device's:
/// but for devices with smaller workgroups, a problem's lanes, and so the order of its sums, are the same everywhere.
const MANY_ROWS: usize = 4096;

/// The uniform of `shaders/ops/reduce.wgsl` and `shaders/ops/softmax.wgsl` (`shaders/ops/rows.wgsl`), in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct RowsDims {
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

/// What is computed along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rows {
    /// The sum: the axis goes.
    Sum,
    /// The softmax: the axis stays.
    Softmax,
    /// The largest magnitude: the axis goes.
    MaxAbs,
    /// The sum of squares: the axis goes.
    SumSquares,
}

impl Rows {
    /// Every operation.
    pub const ALL: [Self; 4] = [Self::Sum, Self::Softmax, Self::MaxAbs, Self::SumSquares];

    pub(super) fn op(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Softmax => "softmax",
            Self::MaxAbs => "max_abs",
            Self::SumSquares => "sum_squares",
        }
    }
}

/// An operation along one axis, checked: there is such an axis, and every size is below $2^{31}$. The result is
/// row-major without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowsProblem {
    /// The sizes, as the shaders have them.
    pub(crate) dims: RowsDims,
    /// The type of all elements.
    pub(crate) dtype: DType,
    /// What is computed.
    pub(crate) function: Rows,
    /// The axis along which it is computed.
    pub(crate) axis: usize,
}

impl RowsProblem {
    /// The sizes, as the shader has them.
    #[must_use]
    pub fn dims(&self) -> &RowsDims {
        &self.dims
    }

    /// `function` along an axis of `a`, a view of `dtype` elements. There must be a row; of a softmax, none is empty.
    ///
    /// # Errors
    /// [`Error::Shape`] if there is no such axis; [`Error::Limit`] if a size is $2^{31}$ or more.
    pub fn new(function: Rows, a: &Layout, axis: usize, dtype: DType) -> Result<Self> {
        let op = function.op();
        check_axis(op, a, axis)?;
        let stride = |axis: usize| if a.shape()[axis] > 1 { a.strides()[axis] } else { 0 };
        let length = a.shape()[axis];
        let mut dims = RowsDims {
            a_offset: a.offset_in_window(dtype),
            a_stride: dim(op, stride(axis))?,
            length: dim(op, length)?,
            ..RowsDims::default()
        };
        let mut c_stride = if function == Rows::Softmax { length } else { 1 };
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
        // Lanes side by side read neighbours: along the axis where it is the innermost of memory, else across rows, as
        // long as there are enough of those.
        let outer = (0..a.rank()).any(|other| a.shape()[other] > 1 && stride(other) < stride(axis));
        dims.lanes = match function {
            Rows::Sum | Rows::MaxAbs | Rows::SumSquares if outer && rows >= MANY_ROWS => 1,
            _ => dims.length.div_ceil(4).max(1).next_power_of_two().min(LANES),
        };
        Ok(Self { dims, dtype, function, axis })
    }

    /// Where the elements of A lie.
    pub(super) fn layout(&self) -> Result<Layout> {
        let d = &self.dims;
        let others = d.axes[..d.rank as usize].iter().rev().map(|axis| [axis[0], axis[2]]);
        let mut axes: Vec<[usize; 2]> = others.map(|axis| axis.map(|size| size as usize)).collect();
        axes.insert(self.axis, [d.length as usize, d.a_stride as usize]);
        let [shape, strides]: [Vec<usize>; 2] = [0, 1].map(|i| axes.iter().map(|axis| axis[i]).collect());
        Layout::new(self.function.op(), &shape, &strides, d.a_offset as usize, usize::MAX)
    }
}

/// Checks that a shape has this axis.
pub(super) fn check_axis(op: &'static str, a: &Layout, axis: usize) -> Result<()> {
    if axis < a.rank() {
        return Ok(());
    }
    Err(Error::shapes(op, "the axis must be one of the shape", a.shape(), &[axis]))
}
