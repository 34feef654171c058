//! Pooling to a given size: windows that divide images into equal parts.

use super::axis::PlaneAxis;
use super::options::PoolDivisor;
use super::problem::{PlaneFunction, gradient_shape, image_shape};
use super::run::{MaxPooled, from_indices, run, with_indices};
use crate::Result;
use crate::error::call;
use crate::layout::Real;
use crate::ops::reductions::functions::{max, mean};
use crate::tensor::Tensor;

/// Average pooling of images with channels last to a given size. Window i of n along an axis of m elements has those from
/// $\lfloor i m / n \rfloor$ to before $\lceil (i + 1) m / n \rceil$; neighbouring windows may share an element.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops::AdaptiveAvgPool2d;
///
/// let x = gpu.tensor(&[1.0f32, 3.0, 5.0], [1, 1, 3, 1])?;
/// assert_eq!(AdaptiveAvgPool2d::new([1, 2]).run(&x)?.to_vec()?, [2.0, 4.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a pooling is computed by `run`"]
pub struct AdaptiveAvgPool2d([usize; 2]);

/// Max pooling of images with channels last to a given size, in the windows of [`AdaptiveAvgPool2d`]. A window with a NaN is NaN.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops::AdaptiveMaxPool2d;
///
/// let x = gpu.tensor(&[1.0f32, 3.0, 5.0], [1, 1, 3, 1])?;
/// assert_eq!(AdaptiveMaxPool2d::new([1, 2]).run(&x)?.to_vec()?, [3.0, 5.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a pooling is computed by `run`"]
pub struct AdaptiveMaxPool2d([usize; 2]);

impl AdaptiveAvgPool2d {
    /// Means of this height and width.
    pub fn new(size: [usize; 2]) -> Self {
        Self(size)
    }

    /// Computes the means, in one launch. Size (1, 1) is [`ops::mean`](crate::ops::mean) over axes 1 and 2, which takes a second
    /// launch for few large images.
    ///
    /// # Shapes
    /// `x` is (batch, height, width, channels), with any strides. The result has the size as its height and width, row-major.
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if `x` has other axes than four, or no height or width;
    /// [`Error::Input`](crate::Error::Input) if a number of the size is 0; [`Error::Limit`](crate::Error::Limit) if the least common
    /// multiple of the old and the new extent of an axis is more than $2^{29}$, or as for [`MaxPool2d::run`](super::MaxPool2d::run);
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the result does not fit.
    /// # Precision
    /// Sums in f32, then stored: [`reference::avg_pool2d`](crate::reference::avg_pool2d).
    pub fn run<T: Real>(&self, x: &Tensor<T>) -> Result<Tensor<T>> {
        let op = "AdaptiveAvgPool2d::run";
        call(op, || {
            let axes = axes(op, x.shape(), self.0)?;
            if self.0 == [1, 1] {
                return mean(x, [1, 2])?.reshape([x.shape()[0], 1, 1, x.shape()[3]]);
            }
            run(op, PlaneFunction::Mean(PoolDivisor::WithoutPadding), axes, x)
        })
    }

    /// The backward pass (vector-Jacobian product): the gradient of images of this height and width, from the gradient `grad` of the
    /// result, in one launch.
    ///
    /// # Shapes
    /// `grad` has the shape of the result, and any strides. The gradient is (batch, height, width, channels).
    /// # Errors
    /// As [`run`](Self::run), and [`Error::Shape`](crate::Error::Shape) if the gradient has another shape.
    /// # Precision
    /// Sums in f32, then stored: [`reference::avg_pool2d_backward`](crate::reference::avg_pool2d_backward).
    pub fn backward<T: Real>(&self, grad: &Tensor<T>, size: [usize; 2]) -> Result<Tensor<T>> {
        let op = "AdaptiveAvgPool2d::backward";
        call(op, || {
            let [batch, .., channels] = gradient_shape(op, grad.shape(), size)?;
            let axes = axes(op, &[batch, size[0], size[1], channels], self.0)?;
            run(op, PlaneFunction::MeanBackward(PoolDivisor::WithoutPadding), axes, grad)
        })
    }
}

impl AdaptiveMaxPool2d {
    /// Largest elements of this height and width.
    pub fn new(size: [usize; 2]) -> Self {
        Self(size)
    }

    /// Computes the largest elements, in one launch. Size (1, 1) is [`ops::max`](crate::ops::max) over axes 1 and 2, which takes a
    /// second launch for few large images.
    ///
    /// # Shapes
    /// As [`AdaptiveAvgPool2d::run`].
    /// # Errors
    /// As [`AdaptiveAvgPool2d::run`].
    /// # Precision
    /// As [`MaxPool2d::run`](super::MaxPool2d::run).
    pub fn run<T: Real>(&self, x: &Tensor<T>) -> Result<Tensor<T>> {
        let op = "AdaptiveMaxPool2d::run";
        call(op, || {
            let axes = axes(op, x.shape(), self.0)?;
            if self.0 == [1, 1] {
                return max(x, [1, 2])?.reshape([x.shape()[0], 1, 1, x.shape()[3]]);
            }
            run(op, PlaneFunction::Largest, axes, x)
        })
    }

    /// As [`run`](Self::run), with the indices that [`backward`](Self::backward) needs; one launch.
    ///
    /// # Shapes
    /// As [`AdaptiveAvgPool2d::run`]. The indices are i32, in the shape of the result.
    /// # Errors
    /// As [`AdaptiveAvgPool2d::run`].
    /// # Precision
    /// As [`MaxPool2d::run`](super::MaxPool2d::run).
    pub fn with_indices<T: Real>(&self, x: &Tensor<T>) -> Result<MaxPooled<T>> {
        let op = "AdaptiveMaxPool2d::with_indices";
        call(op, || with_indices(op, axes(op, x.shape(), self.0)?, x))
    }

    /// The backward pass, as [`MaxPool2d::backward`](super::MaxPool2d::backward).
    ///
    /// # Shapes
    /// `indices` and `grad` have the shape of the result, and any strides. The gradient is (batch, height, width, channels).
    /// # Errors
    /// As [`run`](Self::run), and [`Error::Shape`](crate::Error::Shape) if the indices or the gradient have another shape;
    /// [`Error::Gpu`](crate::Error::Gpu) if they are on different devices.
    /// # Precision
    /// Sums in f32, then stored: [`reference::max_pool2d_backward`](crate::reference::max_pool2d_backward).
    pub fn backward<T: Real>(
        &self,
        indices: &Tensor<i32>,
        grad: &Tensor<T>,
        size: [usize; 2],
    ) -> Result<Tensor<T>> {
        let op = "AdaptiveMaxPool2d::backward";
        call(op, || {
            let [batch, .., channels] = gradient_shape(op, grad.shape(), size)?;
            from_indices(op, axes(op, &[batch, size[0], size[1], channels], self.0)?, indices, grad)
        })
    }
}

fn axes(op: &'static str, shape: &[usize], size: [usize; 2]) -> Result<[PlaneAxis; 2]> {
    image_shape(op, shape)?;
    Ok([PlaneAxis::adaptive(op, shape, 1, size[0])?, PlaneAxis::adaptive(op, shape, 2, size[1])?])
}
