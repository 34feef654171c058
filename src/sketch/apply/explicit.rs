//! An operator with a stored matrix.

use crate::error::{Named, call};
use crate::gemm::{Side, product};
use crate::layout::Real;
use crate::sketch::operator::axis::{AxisLayout, matrix_axis};
use crate::sketch::operator::{Direction, OP};
use crate::tensor::Tensor;
use crate::{Error, Result};

/// A matrix $S \in R^{d \times n}$ as an operator. It has the methods of a [`Sketch`](crate::sketch::Sketch), but its
/// entries are those of a tensor.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::sketch::ExplicitSketch;
///
/// let s = ExplicitSketch::new(gpu.tensor(&[1.0f32, 1.0, 0.0, 0.0, 0.0, 2.0], [2, 3])?)?;
/// let x = gpu.tensor(&[1.0f32, 2.0, 3.0], [3])?;
/// assert_eq!(s.apply(&x, 0)?.to_vec()?, [3.0, 6.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ExplicitSketch<T: Real> {
    matrix: Tensor<T>,
}

impl<T: Real> ExplicitSketch<T> {
    /// The operator of a matrix (d, n), in any strides.
    ///
    /// # Errors
    /// [`Error::Shape`] if the tensor is not a matrix, or has no rows or columns.
    pub fn new(matrix: Tensor<T>) -> Result<Self> {
        call("ExplicitSketch::new", || {
            if matrix.shape().len() == 2 && !matrix.is_empty() {
                return Ok(Self { matrix });
            }
            let rule = "an operator must be a matrix with rows and columns";
            Err(Error::shape(OP, rule, matrix.shape()))
        })
    }

    /// Rows d and columns n.
    #[must_use]
    pub fn shape(&self) -> [usize; 2] {
        [self.matrix.shape()[0], self.matrix.shape()[1]]
    }

    /// Applies $S$ along an axis, like [`Sketch::apply`](crate::sketch::Sketch::apply): each line of n elements becomes
    /// a line of d.
    ///
    /// # Shapes
    /// `x` of up to 6 axes, any strides, extent n along `axis` -> the same shape with extent d, in f32.
    /// # Errors
    /// [`Error::Shape`] if `x` has no such axis, or the extent of the axis is not n; [`Error::Gpu`] if `x` is on
    /// another device; [`Error::Limit`] or [`Error::OutOfMemory`] if the result does not fit.
    /// # Precision
    /// Sums are in f32: $|y_{i} - (Sx)\_{i}| \le \gamma_{n} (|S||x|)\_{i}$.
    pub fn apply(&self, x: &Tensor<T>, axis: usize) -> Result<Tensor<f32>> {
        self.apply_along(Direction::Forward, x, axis).named("ExplicitSketch::apply")
    }

    /// Applies $S^T$ along an axis: each line of d elements becomes a line of n.
    ///
    /// # Shapes
    /// As for [`apply`](Self::apply), with n and d exchanged.
    /// # Errors
    /// As for [`apply`](Self::apply).
    pub fn adjoint(&self, y: &Tensor<T>, axis: usize) -> Result<Tensor<f32>> {
        self.apply_along(Direction::Adjoint, y, axis).named("ExplicitSketch::adjoint")
    }

    /// The product $SX$: applies the operator along the last axis but one.
    ///
    /// # Shapes
    /// (..., n, m) -> (..., d, m)
    /// # Errors
    /// As for [`apply`](Self::apply).
    pub fn left(&self, x: &Tensor<T>) -> Result<Tensor<f32>> {
        call("ExplicitSketch::left", || self.apply(x, matrix_axis(x, 2)?))
    }

    /// The product $XS^T$: applies the operator along the last axis.
    ///
    /// # Shapes
    /// (..., m, n) -> (..., m, d)
    /// # Errors
    /// As for [`apply`](Self::apply).
    pub fn right(&self, x: &Tensor<T>) -> Result<Tensor<f32>> {
        call("ExplicitSketch::right", || self.apply(x, matrix_axis(x, 1)?))
    }

    fn apply_along(&self, direction: Direction, x: &Tensor<T>, axis: usize) -> Result<Tensor<f32>> {
        let gpu = self.matrix.same_gpu(OP, x)?;
        let [from, to] = direction.lengths(self.shape());
        let (layout, x) = AxisLayout::of_tensor(x, axis, to)?;
        layout.check(from, x.layout(), self.shape())?;
        let y = gpu.empty::<f32>(&layout.shape)?;
        if layout.is_empty() {
            return Ok(y);
        }
        let (side, matrices, products) = layout.as_product(x.layout(), y.layout())?;
        let (matrices, products) = (x.view().with_layout(matrices), y.view().with_layout(products));
        // On the right of a product, the operator is transposed.
        let matrix = match (direction, side) {
            (Direction::Forward, Side::A) | (Direction::Adjoint, Side::B) => self.matrix.clone(),
            (Direction::Forward, Side::B) | (Direction::Adjoint, Side::A) => self.matrix.t(),
        };
        let (a, b) = if side == Side::A { (matrix.view(), matrices) } else { (matrices, matrix.view()) };
        product(a, b, products)?;
        Ok(y)
    }
}
