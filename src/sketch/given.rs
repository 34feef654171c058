//! An operator whose matrix the user gives.

use super::along::Along;
use super::apply::{Way, matrix_axis};
use super::operator::OP;
use crate::error::{Named, call};
use crate::gemm::{Side, product};
use crate::layout::Real;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// A matrix $S \in R^{d \times n}$ as an operator: what a [`Sketch`](super::Sketch) can, with stored entries.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::sketch::Given;
///
/// let s = Given::new(gpu.tensor(&[1.0f32, 1.0, 0.0, 0.0, 0.0, 2.0], [2, 3])?)?;
/// let x = gpu.tensor(&[1.0f32, 2.0, 3.0], [3])?;
/// assert_eq!(s.apply(&x, 0)?.to_vec()?, [3.0, 6.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Given<T: Real> {
    matrix: Tensor<T>,
}

impl<T: Real> Given<T> {
    /// The operator of this matrix, (d, n) in any strides.
    ///
    /// # Errors
    /// [`Error::Shape`] if it is no matrix, or has no rows or columns.
    pub fn new(matrix: Tensor<T>) -> Result<Self> {
        call("Given::new", || {
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

    /// $S$ along an axis: every line of n elements along it becomes one of d. [`Sketch::apply`](super::Sketch::apply).
    ///
    /// # Shapes
    /// `x` has up to 6 axes in any strides, of which `axis` has extent n -> the same with extent d, in f32.
    /// # Errors
    /// [`Error::Shape`] if there is no such axis, or it is not of extent n; [`Error::Gpu`] if `x` lives on another
    /// device; [`Error::Limit`], [`Error::OutOfMemory`] if there is no room.
    /// # Precision
    /// Summed in f32: $|y_{i} - (Sx)_{i}| \le \gamma_{n} (|S||x|)_{i}$.
    pub fn apply(&self, x: &Tensor<T>, axis: usize) -> Result<Tensor<f32>> {
        self.along(Way::Forward, x, axis).named("Given::apply")
    }

    /// $S^T$ along an axis: every line of d elements along it becomes one of n.
    ///
    /// # Shapes
    /// As [`apply`](Self::apply), n and d exchanged.
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn adjoint(&self, y: &Tensor<T>, axis: usize) -> Result<Tensor<f32>> {
        self.along(Way::Adjoint, y, axis).named("Given::adjoint")
    }

    /// $SX$: from the left, along the last axis but one.
    ///
    /// # Shapes
    /// (..., n, m) -> (..., d, m)
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn left(&self, x: &Tensor<T>) -> Result<Tensor<f32>> {
        call("Given::left", || self.apply(x, matrix_axis(x, 2)?))
    }

    /// $XS^T$: from the right, along the last axis.
    ///
    /// # Shapes
    /// (..., m, n) -> (..., m, d)
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn right(&self, x: &Tensor<T>) -> Result<Tensor<f32>> {
        call("Given::right", || self.apply(x, matrix_axis(x, 1)?))
    }

    fn along(&self, way: Way, x: &Tensor<T>, axis: usize) -> Result<Tensor<f32>> {
        let gpu = self.matrix.same_gpu(OP, x)?;
        let [d, n] = self.shape();
        let [from, to] = if way == Way::Forward { [n, d] } else { [d, n] };
        let (along, x) = Along::new(x, axis, to)?;
        along.check(from, &x, [d, n])?;
        let y = gpu.empty::<f32>(&along.shape)?;
        if along.is_empty() {
            return Ok(y);
        }
        let (side, matrices, products) = along.as_product(x.layout(), y.layout())?;
        let (matrices, products) = (x.view().seen_as(matrices), y.view().seen_as(products));
        // On the right, an operator stands transposed.
        let matrix = match (way, side) {
            (Way::Forward, Side::A) | (Way::Adjoint, Side::B) => self.matrix.clone(),
            (Way::Forward, Side::B) | (Way::Adjoint, Side::A) => self.matrix.t(),
        };
        let (a, b) = if side == Side::A { (matrix.view(), matrices) } else { (matrices, matrix.view()) };
        product(a, b, products)?;
        Ok(y)
    }
}
