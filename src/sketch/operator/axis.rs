//! A tensor as lines along one axis, and the strides of its other axes.

use super::sketch::OP;
use crate::gemm::Side;
use crate::layout::{Layout, Real};
use crate::tensor::Tensor;
use crate::{Error, Result};

/// An axis along which the operator is not applied, or several merged ones: its extent, and its strides in operand and
/// result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sketch) struct OtherAxis {
    pub(in crate::sketch) extent: usize,
    pub(in crate::sketch) x: usize,
    pub(in crate::sketch) y: usize,
}

impl OtherAxis {
    /// An axis of a single element.
    pub(in crate::sketch) const ONE: Self = Self { extent: 1, x: 0, y: 0 };
}

/// The layouts of an operand and a result whose shapes differ in one axis only. The result is contiguous.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sketch) struct AxisLayout {
    /// Extents of the axis in operand and result.
    pub(in crate::sketch) extents: [usize; 2],
    /// Strides of the axis in operand and result.
    pub(in crate::sketch) strides: [usize; 2],
    /// The other axes, at least one, the innermost of the result first. Neighbours that have one common stride in both
    /// layouts are merged. Kernels take at most [`MAX_OTHER_AXES`].
    pub(in crate::sketch) others: Vec<OtherAxis>,
    /// The shape of the result.
    pub(in crate::sketch) shape: Vec<usize>,
}

/// Largest number of other axes that the kernels take: columns and the two axes of a batch.
pub(in crate::sketch) const MAX_OTHER_AXES: usize = 3;

impl AxisLayout {
    /// The layout of `x` along `axis`, whose extent in the result is `extent`. Also returns `x`, or a contiguous copy
    /// if its strides leave too many axes unmerged.
    pub(in crate::sketch) fn of_tensor<T: Real>(
        x: &Tensor<T>,
        axis: usize,
        extent: usize,
    ) -> Result<(Self, Tensor<T>)> {
        let layout = Self::new(x.layout(), axis, extent)?;
        if layout.others.len() <= MAX_OTHER_AXES {
            return Ok((layout, x.clone()));
        }
        let copy = x.contiguous()?;
        Ok((Self::new(copy.layout(), axis, extent)?, copy))
    }

    /// The layout of `x` along `axis`, whose extent in the result is `extent`. It may have more than
    /// [`MAX_OTHER_AXES`].
    pub(in crate::sketch) fn new(x: &Layout, axis: usize, extent: usize) -> Result<Self> {
        if axis >= x.rank() {
            return Err(Error::shapes(OP, "the axis must be one of the shape", x.shape(), &[axis]));
        }
        let mut shape = x.shape().to_vec();
        shape[axis] = extent;
        let y = Layout::contiguous(OP, &shape)?;
        let mut others: Vec<OtherAxis> = Vec::new();
        for other in (0..x.rank()).rev().filter(|&other| other != axis && x.shape()[other] != 1) {
            let [x_stride, y_stride] = [x, &y].map(|layout| layout.strides()[other]);
            let extent = x.shape()[other];
            match others.last_mut() {
                Some(inner) if [x_stride, y_stride] == [inner.x, inner.y].map(|s| s * inner.extent) => {
                    inner.extent *= extent;
                }
                _ => others.push(OtherAxis { extent, x: x_stride, y: y_stride }),
            }
        }
        if others.is_empty() {
            others.push(OtherAxis::ONE);
        }
        let stride = |layout: &Layout| if layout.shape()[axis] > 1 { layout.strides()[axis] } else { 0 };
        let (extents, strides) = ([x.shape()[axis], extent], [stride(x), stride(&y)]);
        Ok(Self { extents, strides, others, shape })
    }

    /// Checks that the axis of `x` has the extent `length` to which an operator of the shape `operator` is applied.
    pub(in crate::sketch) fn check<T: Real>(
        &self,
        length: usize,
        x: &Tensor<T>,
        operator: [usize; 2],
    ) -> Result<()> {
        if self.extents[0] == length {
            return Ok(());
        }
        Err(Error::shapes(OP, WRONG_LENGTH, x.shape(), &operator))
    }

    /// Whether the result has no elements.
    pub(in crate::sketch) fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Operand and result as batches of matrices, and the side of the product on which the operator stands: the left if
    /// the lines of the result are columns, the right (transposed) if they are rows.
    pub(in crate::sketch) fn as_product(&self, x: &Layout, y: &Layout) -> Result<(Side, Layout, Layout)> {
        let (columns, batch) = self.others.split_first().unwrap_or((&OtherAxis::ONE, &[]));
        let side = if columns.y == 1 || self.extents[1] == 1 { Side::A } else { Side::B };
        let with = |batch: Vec<usize>, line: usize, other: usize| {
            let matrix = if side == Side::A { [line, other] } else { [other, line] };
            batch.into_iter().rev().chain(matrix).collect::<Vec<_>>()
        };
        let of = |f: fn(&OtherAxis) -> usize| batch.iter().map(f).collect::<Vec<_>>();
        let extents = self.extents.map(|line| with(of(|b| b.extent), line, columns.extent));
        let x_strides = with(of(|b| b.x), self.strides[0], columns.x);
        let y_strides = with(of(|b| b.y), self.strides[1], columns.y);
        let seen = |layout: &Layout, shape: &[usize], strides: &[usize]| {
            Layout::new(OP, shape, strides, layout.offset(), layout.span().end)
        };
        let matrices = seen(x, &extents[0], &x_strides)?;
        let products = seen(y, &extents[1], &y_strides)?;
        Ok((side, matrices, products))
    }
}

/// The rule that an operand breaks if kernels cannot step along its axes.
pub(in crate::sketch) const WRONG_AXES: &str =
    "the axes other than the operator's must merge into at most three";

/// The rule that an operand breaks if its axis has another extent than the operator's lines.
pub(in crate::sketch) const WRONG_LENGTH: &str =
    "the axis must have the extent that the operator is applied to: n of a (d, n) operator, d of its adjoint";

/// The axis counted from the end of a matrix or a batch of matrices: 1 is the last.
pub(in crate::sketch) fn matrix_axis<T: Real>(x: &Tensor<T>, from_end: usize) -> Result<usize> {
    match x.shape().len().checked_sub(from_end) {
        Some(axis) if x.shape().len() >= 2 => Ok(axis),
        _ => Err(Error::shape(OP, "the operand must be a matrix or a batch of matrices", x.shape())),
    }
}
