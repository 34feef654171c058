//! Contiguous copies and casts of tensors.

use super::problem::CastProblem;
use crate::Result;
use crate::error::{Named, call};
use crate::layout::{Element, Overflow};
use crate::plan::Plan;
use crate::tensor::{Tensor, aside};
use std::ops::Range;

impl<T: Element> Tensor<T> {
    /// This tensor if it is contiguous, otherwise a contiguous copy.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) or [`Error::Limit`](crate::Error::Limit) if the copy does not
    /// fit.
    pub fn contiguous(&self) -> Result<Self> {
        if self.layout().is_contiguous() {
            return Ok(self.clone());
        }
        self.copied()
    }

    /// The plan of the copy of [`contiguous`](Self::contiguous); None if nothing is copied.
    pub(crate) fn contiguous_plan(&self) -> Result<Option<Plan>> {
        if self.layout().is_contiguous() || self.is_empty() {
            return Ok(None);
        }
        let problem = CastProblem::new(self.layout(), T::DTYPE, T::DTYPE, Overflow::Rust)?;
        self.gpu().explained(&problem).map(Some)
    }

    /// This tensor with neighbouring axes as one: a view if one stride covers them, otherwise a contiguous copy.
    pub(crate) fn joined(&self, axes: Range<usize>) -> Result<Self> {
        if let Some(layout) = self.layout().joined(axes.clone()) {
            return Ok(self.with_layout(layout));
        }
        let shape = self.shape();
        let one = shape[axes.clone()].iter().product();
        self.contiguous()?.reshape([&shape[..axes.start], &[one], &shape[axes.end..]].concat())
    }

    /// This tensor as a matrix whose rows are its last axis: a view if one stride covers the others, otherwise a contiguous
    /// copy. It has an axis.
    pub(crate) fn as_matrix(&self) -> Result<Self> {
        self.joined(0..self.shape().len() - 1)
    }

    /// A contiguous copy.
    pub(crate) fn copied(&self) -> Result<Self> {
        aside(|| convert(self, Overflow::Rust)).named("contiguous")
    }

    /// Converts the elements to another type as Rust's `as` and [`half`] do, with bit-identical results on every
    /// device. There is no copy if the type is the same.
    ///
    /// # Shapes
    /// Any view -> the same shape, contiguous; the same view if the type is the same.
    ///
    /// # Precision
    /// Exact if the new type represents the value. Subnormal operands and results are preserved; NaN stays NaN.
    /// - Real to a narrower real: rounded to nearest, ties to even; overflow becomes infinity, or NaN in
    ///   [`F8E4M3`](crate::F8E4M3), which has no infinity.
    /// - Real to integer: truncated toward zero; saturated; NaN becomes 0.
    /// - Integer to a narrower integer: the low bits, so it wraps.
    /// - Integer to real: rounded to nearest, ties to even; i32 to f16 or bf16 goes through f32, with two roundings.
    ///
    /// [`cast_saturating`](Self::cast_saturating) neither overflows to infinity or NaN nor wraps. Frameworks differ here:
    /// `ml_dtypes`, and `PyTorch` before 2.12, cast to `float8_e4m3fn` as this does; `PyTorch` from 2.12 on saturates.
    ///
    /// # Errors
    /// As [`contiguous`](Self::contiguous).
    ///
    /// # Example
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// let a = gpu.tensor(&[1.5f32, -200.0, 1e6, f32::NAN], [4])?;
    /// assert_eq!(a.cast::<i8>()?.to_vec()?, [1, -128, 127, 0]);
    /// assert_eq!(a.cast::<tilewise::f16>()?.slice(0, 2..3)?.to_vec()?, [tilewise::f16::INFINITY]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn cast<U: Element>(&self) -> Result<Tensor<U>> {
        if T::DTYPE == U::DTYPE {
            return Ok(self.assume_type());
        }
        call("cast", || convert(self, Overflow::Rust))
    }

    /// Converts the elements as [`cast`](Self::cast) does, but values outside the new type's range, infinities
    /// included, become its largest finite value of the same sign. There is no copy between i8 and i8, or i32 and i32.
    ///
    /// # Shapes
    /// As [`cast`](Self::cast).
    ///
    /// # Precision
    /// As [`cast`](Self::cast) within the range of the new type; NaN stays NaN in reals and becomes 0 in integers.
    ///
    /// # Errors
    /// As [`contiguous`](Self::contiguous).
    ///
    /// # Example
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// let sums = gpu.tensor(&[1000, -1000, 7], [3])?; // i32
    /// assert_eq!(sums.cast_saturating::<i8>()?.to_vec()?, [127, -128, 7]);
    /// assert_eq!(sums.cast::<i8>()?.to_vec()?, [-24, 24, 7]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn cast_saturating<U: Element>(&self) -> Result<Tensor<U>> {
        if T::DTYPE == U::DTYPE && !U::DTYPE.is_float() {
            Ok(self.assume_type())
        } else {
            call("cast_saturating", || convert(self, Overflow::Saturate))
        }
    }
}

/// A new contiguous tensor with the elements of `view` as `U`.
fn convert<T: Element, U: Element>(view: &Tensor<T>, overflow: Overflow) -> Result<Tensor<U>> {
    let gpu = view.gpu();
    if view.is_empty() {
        return gpu.empty(view.shape());
    }
    let problem = CastProblem::new(view.layout(), T::DTYPE, U::DTYPE, overflow)?;
    Tensor::computed(gpu, &problem, &[view.view()], &[], view.shape())
}
