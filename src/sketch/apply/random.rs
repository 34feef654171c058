//! Applying a random operator to a tensor, along any axis.

use crate::error::{Named, call};
use crate::layout::Real;
use crate::plan::Plan;
use crate::sketch::operator::axis::matrix_axis;
use crate::sketch::operator::{Applied, Direction, Sketch};
use crate::tensor::Tensor;
use crate::{Gpu, Result};

impl Sketch {
    /// Applies $S$ along an axis: each line of n elements becomes a line of d.
    ///
    /// S is never stored: kernels generate its entries when they use them. The result for the same operand is
    /// bit-identical from call to call.
    ///
    /// # Shapes
    /// `x` of up to 6 axes, any strides, extent n along `axis` -> the same shape with extent d, in f32.
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if `x` has no such axis, or the extent of the axis is not n; [`Error::Limit`](crate::Error::Limit) or
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the result does not fit.
    /// # Precision
    /// Sums are in f32: $|y_{i} - (Sx)\_{i}| \le \gamma_{k + 2} (|S||x|)\_{i}$, where k is the number of nonzero entries
    /// in a row, or $\log_{2} N$ for a Hadamard operator whose columns are padded to N.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::Fill;
    /// use tilewise::sketch::{Sketch, SketchKind};
    ///
    /// let x = gpu.random::<f32>([1000, 20], Fill::Uniform, 1)?;
    /// let s = Sketch::new(SketchKind::Sign, [50, 1000], 2)?;
    /// let y = s.apply(&x, 0)?; // S x
    /// assert_eq!(y.shape(), [50, 20]);
    /// let z = s.apply(&x.t(), 1)?; // x^T S^T
    /// assert_eq!(z.shape(), [20, 50]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn apply<T: Real>(&self, x: &Tensor<T>, axis: usize) -> Result<Tensor<f32>> {
        self.applied().along(Direction::Forward, x, axis).named("Sketch::apply")
    }

    /// Applies $S^T$ along an axis: each line of d elements becomes a line of n.
    ///
    /// # Shapes
    /// As for [`apply`](Self::apply), with n and d exchanged.
    /// # Errors
    /// As for [`apply`](Self::apply).
    /// # Precision
    /// As for [`apply`](Self::apply).
    pub fn adjoint<T: Real>(&self, y: &Tensor<T>, axis: usize) -> Result<Tensor<f32>> {
        self.applied().along(Direction::Adjoint, y, axis).named("Sketch::adjoint")
    }

    /// The product $SX$: applies the operator along the last axis but one.
    ///
    /// # Shapes
    /// (..., n, m) -> (..., d, m)
    /// # Errors
    /// As for [`apply`](Self::apply).
    pub fn left<T: Real>(&self, x: &Tensor<T>) -> Result<Tensor<f32>> {
        call("Sketch::left", || self.apply(x, matrix_axis(x, 2)?))
    }

    /// The product $XS^T$: applies the operator along the last axis.
    ///
    /// # Shapes
    /// (..., m, n) -> (..., m, d)
    /// # Errors
    /// As for [`apply`](Self::apply).
    pub fn right<T: Real>(&self, x: &Tensor<T>) -> Result<Tensor<f32>> {
        call("Sketch::right", || self.apply(x, matrix_axis(x, 1)?))
    }

    /// The operator as a tensor of all its entries. [`apply`](Self::apply) does not need it.
    ///
    /// # Shapes
    /// (d, n)
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) or [`Error::Limit`](crate::Error::Limit) if the tensor does not fit.
    pub fn to_tensor(&self, gpu: &Gpu) -> Result<Tensor<f32>> {
        gpu.filled("Sketch::to_tensor", &self.shape(), |start, entries| self.entries_from(start, entries))
    }

    /// The plan that applies the operator, or its transpose, along an axis of `x`.
    ///
    /// # Errors
    /// As for [`apply`](Self::apply); also [`Error::Shape`](crate::Error::Shape) if the result is empty, because nothing is launched then.
    pub fn plan<T: Real>(&self, direction: Direction, x: &Tensor<T>, axis: usize) -> Result<Plan> {
        self.applied().plan(direction, x, axis).named("Sketch::plan")
    }

    fn applied(&self) -> Applied<'_> {
        Applied { sketch: self, seed: None }
    }
}
