//! A tensor seen along one axis: lines of it become lines of the result, side by side.

use super::operator::OP;
use crate::gemm::Side;
use crate::layout::{Layout, Real};
use crate::tensor::Tensor;
use crate::{Error, Result};

/// An axis that an operator does not touch, or several that step as one: its extent, and its strides in operand and
/// result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Beside {
    pub(super) extent: usize,
    pub(super) x: usize,
    pub(super) y: usize,
}

/// An operand and a result of the same shape but for one axis; the result is row-major without gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Along {
    /// Extents of the axis: of operand and result.
    pub(super) extents: [usize; 2],
    /// Strides of the axis: of operand and result.
    pub(super) strides: [usize; 2],
    /// The other axes, the innermost of the result first, merged where both step on: at most three, and at least one.
    pub(super) beside: Vec<Beside>,
    /// The shape of the result.
    pub(super) shape: Vec<usize>,
}

/// Axes beside the one that the kernels walk along: columns, and the two of a batch.
pub(super) const BESIDE_AT_MOST: usize = 3;

impl Along {
    /// `x` seen along `axis`, which becomes as long as `extent` says; and `x` itself, or a copy of it where its strides
    /// do not let axes be merged.
    pub(super) fn new<T: Real>(x: &Tensor<T>, axis: usize, extent: usize) -> Result<(Self, Tensor<T>)> {
        let along = Self::of(x.layout(), axis, extent)?;
        if along.beside.len() <= BESIDE_AT_MOST {
            return Ok((along, x.clone()));
        }
        let copy = x.contiguous()?;
        Ok((Self::of(copy.layout(), axis, extent)?, copy))
    }

    /// As [`new`](Self::new), of what is no copy: there may be more axes beside.
    pub(super) fn of(x: &Layout, axis: usize, extent: usize) -> Result<Self> {
        if axis >= x.rank() {
            return Err(Error::shapes(OP, "the axis must be one of the shape", x.shape(), &[axis]));
        }
        let mut shape = x.shape().to_vec();
        shape[axis] = extent;
        let y = Layout::contiguous(OP, &shape)?;
        let mut beside: Vec<Beside> = Vec::new();
        for other in (0..x.rank()).rev().filter(|&other| other != axis && x.shape()[other] != 1) {
            let [x_stride, y_stride] = [x, &y].map(|layout| layout.strides()[other]);
            let extent = x.shape()[other];
            match beside.last_mut() {
                Some(inner) if [x_stride, y_stride] == [inner.x, inner.y].map(|s| s * inner.extent) => {
                    inner.extent *= extent;
                }
                _ => beside.push(Beside { extent, x: x_stride, y: y_stride }),
            }
        }
        if beside.is_empty() {
            beside.push(Beside { extent: 1, x: 0, y: 0 });
        }
        let stride = |layout: &Layout| if layout.shape()[axis] > 1 { layout.strides()[axis] } else { 0 };
        let (extents, strides) = ([x.shape()[axis], extent], [stride(x), stride(&y)]);
        Ok(Self { extents, strides, beside, shape })
    }

    /// Checks that the axis of `x` is as long as what an operator of this shape is applied to.
    pub(super) fn check<T: Real>(&self, length: usize, x: &Tensor<T>, operator: [usize; 2]) -> Result<()> {
        if self.extents[0] == length {
            return Ok(());
        }
        let rule = "the axis must be as long as what the operator is applied to";
        Err(Error::shapes(OP, rule, x.shape(), &operator))
    }

    /// Whether there is nothing beside the axis.
    pub(super) fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Operand and result as batches of matrices, and on which side of them an operator stands: on the left of a result
    /// whose lines are side by side in memory, on the right, transposed, of one whose lines are rows.
    pub(super) fn as_product(&self, x: &Layout, y: &Layout) -> Result<(Side, Layout, Layout)> {
        let once = Beside { extent: 1, x: 0, y: 0 };
        let (columns, batch) = self.beside.split_first().unwrap_or((&once, &[]));
        let side = if columns.y == 1 || self.extents[1] == 1 { Side::A } else { Side::B };
        let with = |batch: Vec<usize>, line: usize, beside: usize| {
            let matrix = if side == Side::A { [line, beside] } else { [beside, line] };
            batch.into_iter().rev().chain(matrix).collect::<Vec<_>>()
        };
        let of = |f: fn(&Beside) -> usize| batch.iter().map(f).collect::<Vec<_>>();
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
