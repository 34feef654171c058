//! Applying an operator to a tensor, along any axis.

use super::along::Along;
use super::dense::DenseProblem;
use super::hadamard::HadamardProblem;
use super::operator::{OP, Sketch, SketchKind};
use super::sparse::SparseProblem;
use super::{dense, hadamard, sparse};
use crate::error::{Named, call};
use crate::layout::Real;
use crate::plan::{Plan, Problem, ScalarParameter};
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result};

/// The numbers that a call of an operator passes.
pub(super) const SCALARS: [ScalarParameter; 3] =
    [ScalarParameter::u32("seed_low"), ScalarParameter::u32("seed_high"), ScalarParameter::f32("scale")];

/// Which way an operator is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// $S$: lines of n elements become lines of d.
    Forward,
    /// $S^T$: lines of d elements become lines of n.
    Adjoint,
}

impl Sketch {
    /// $S$ along an axis: every line of n elements along it becomes one of d.
    ///
    /// Nothing of S is stored: entries are made where they are used. The same operand gives the same bits.
    ///
    /// # Shapes
    /// `x` has up to 6 axes in any strides, of which `axis` has extent n -> the same with extent d, in f32.
    /// # Errors
    /// [`Error::Shape`] if there is no such axis, or it is not of extent n; [`Error::Limit`], [`Error::OutOfMemory`] if
    /// there is no room.
    /// # Precision
    /// Summed in f32: $|y_{i} - (Sx)_{i}| \le \gamma_{k + 2} (|S||x|)_{i}$, k being the entries of a row that are not
    /// 0, and of a Hadamard operator of N columns, padded, $\log_{2} N$.
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
        self.along(Way::Forward, x, axis).named("Sketch::apply")
    }

    /// $S^T$ along an axis: every line of d elements along it becomes one of n.
    ///
    /// # Shapes
    /// As [`apply`](Self::apply), n and d exchanged.
    /// # Errors
    /// As [`apply`](Self::apply).
    /// # Precision
    /// As [`apply`](Self::apply).
    pub fn adjoint<T: Real>(&self, y: &Tensor<T>, axis: usize) -> Result<Tensor<f32>> {
        self.along(Way::Adjoint, y, axis).named("Sketch::adjoint")
    }

    /// $SX$: from the left, along the last axis but one.
    ///
    /// # Shapes
    /// (..., n, m) -> (..., d, m)
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn left<T: Real>(&self, x: &Tensor<T>) -> Result<Tensor<f32>> {
        call("Sketch::left", || self.apply(x, matrix_axis(x, 2)?))
    }

    /// $XS^T$: from the right, along the last axis.
    ///
    /// # Shapes
    /// (..., m, n) -> (..., m, d)
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn right<T: Real>(&self, x: &Tensor<T>) -> Result<Tensor<f32>> {
        call("Sketch::right", || self.apply(x, matrix_axis(x, 1)?))
    }

    /// All entries, stored: d n numbers. [`apply`](Self::apply) needs none of them.
    ///
    /// # Shapes
    /// (d, n)
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Limit`] if there is no room.
    pub fn to_tensor(&self, gpu: &Gpu) -> Result<Tensor<f32>> {
        gpu.filled("Sketch::to_tensor", &self.shape(), |start, entries| self.entries_from(start, entries))
    }

    /// How it is applied along an axis of `x`.
    ///
    /// # Errors
    /// As [`apply`](Self::apply); [`Error::Shape`] too if there is nothing beside the axis, and so nothing to launch.
    pub fn plan<T: Real>(&self, way: Way, x: &Tensor<T>, axis: usize) -> Result<Plan> {
        call("Sketch::plan", || {
            let (along, x) = self.checked(way, x, axis)?;
            if along.is_empty() {
                return Err(Error::shapes(
                    OP,
                    "nothing is launched for no element",
                    x.shape(),
                    &self.shape(),
                ));
            }
            let caps = x.gpu().caps();
            match self.kind() {
                SketchKind::Gaussian | SketchKind::Uniform | SketchKind::Sign => {
                    DenseProblem::new(self, way, x.layout(), axis, T::DTYPE)?.explain(caps)
                }
                SketchKind::Hadamard => {
                    HadamardProblem::new(self, way, x.layout(), axis, T::DTYPE)?.explain(caps)
                }
                _ => SparseProblem::new(self, way, x.layout(), axis, T::DTYPE)?.explain(caps),
            }
        })
    }

    fn along<T: Real>(&self, way: Way, x: &Tensor<T>, axis: usize) -> Result<Tensor<f32>> {
        let (along, x) = self.checked(way, x, axis)?;
        if along.is_empty() {
            return x.gpu().empty(&along.shape);
        }
        match self.kind() {
            SketchKind::Gaussian | SketchKind::Uniform | SketchKind::Sign => {
                dense::apply(self, way, &x, axis)
            }
            SketchKind::Hadamard => hadamard::apply(self, way, &x, axis),
            _ => sparse::apply(self, way, &x, axis),
        }
    }

    /// The operand seen along an axis, which is as long as it must be.
    pub(super) fn checked<T: Real>(
        &self,
        way: Way,
        x: &Tensor<T>,
        axis: usize,
    ) -> Result<(Along, Tensor<T>)> {
        let [d, n] = self.shape();
        let [from, to] = if way == Way::Forward { [n, d] } else { [d, n] };
        let (along, x) = Along::new(x, axis, to)?;
        along.check(from, &x, self.shape())?;
        Ok((along, x))
    }
}

/// The axis that is so many from the end of a matrix or a batch of them.
pub(super) fn matrix_axis<T: Real>(x: &Tensor<T>, from_end: usize) -> Result<usize> {
    match x.shape().len().checked_sub(from_end) {
        Some(axis) if x.shape().len() >= 2 => Ok(axis),
        _ => Err(Error::shape(OP, "the operand must be a matrix or a batch of them", x.shape())),
    }
}
