//! Average pooling.

use super::axis::{AxisWindows, PlaneAxis};
use super::options::{PoolDivisor, PoolPadding, PoolRounding};
use super::problem::{PlaneFunction, gradient_shape, image_shape};
use super::run::run;
use crate::Result;
use crate::error::call;
use crate::layout::Real;
use crate::tensor::Tensor;

/// Average pooling of images with channels last: the mean of each window of each channel.
///
/// For the mean of a whole image, [`ops::mean`](crate::ops::mean) over axes 1 and 2 reads the image with more of the device.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops::{AvgPool2d, PoolDivisor};
///
/// let x = gpu.tensor(&[2.0f32, 4.0, 8.0], [1, 1, 3, 1])?;
/// let pool = AvgPool2d::new([1, 2]).padding([(0, 0), (1, 0)]);
/// assert_eq!(pool.run(&x)?.to_vec()?, [1.0, 6.0]); // (0 + 2) / 2 and (4 + 8) / 2
/// let pool = pool.divisor(PoolDivisor::WithoutPadding);
/// assert_eq!(pool.run(&x)?.to_vec()?, [2.0, 6.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a pooling is computed by `run`"]
pub struct AvgPool2d {
    windows: [AxisWindows; 2],
    divisor: PoolDivisor,
}

impl AvgPool2d {
    /// Windows of this height and width, next to each other, without padding.
    pub fn new(kernel: [usize; 2]) -> Self {
        Self { windows: kernel.map(AxisWindows::new), divisor: PoolDivisor::WithPadding }
    }

    /// From the begin of a window to that of the next, down and to the right. The default is the kernel.
    pub fn stride(mut self, stride: [usize; 2]) -> Self {
        (self.windows[0].stride, self.windows[1].stride) = (stride[0], stride[1]);
        self
    }

    /// Zeros around the images: `[1, 1]` on all sides, `[(0, 1), (0, 1)]` below and on the right.
    pub fn padding(mut self, padding: impl Into<PoolPadding>) -> Self {
        let PoolPadding([rows, columns]) = padding.into();
        (self.windows[0].padding, self.windows[1].padding) = (rows, columns);
        self
    }

    /// What happens to last elements that fill no window.
    pub fn rounding(mut self, rounding: PoolRounding) -> Self {
        (self.windows[0].rounding, self.windows[1].rounding) = (rounding, rounding);
        self
    }

    /// The number by which sums are divided. The default counts the padding.
    pub fn divisor(mut self, divisor: PoolDivisor) -> Self {
        self.divisor = divisor;
        self
    }

    /// Computes the means, in one launch.
    ///
    /// # Shapes
    /// As [`MaxPool2d::run`](super::MaxPool2d::run).
    /// # Errors
    /// As [`MaxPool2d::run`](super::MaxPool2d::run).
    /// # Precision
    /// Sums in f32, row by row, then stored: [`reference::avg_pool2d`](crate::reference::avg_pool2d).
    pub fn run<T: Real>(&self, x: &Tensor<T>) -> Result<Tensor<T>> {
        let op = "AvgPool2d::run";
        call(op, || run(op, PlaneFunction::Mean(self.divisor), self.axes(op, x.shape())?, x))
    }

    /// The backward pass (vector-Jacobian product): the gradient of images of this height and width, from the gradient `grad` of the
    /// result. Each element adds its shares of the gradients of its windows. One launch, without atomics: the bits are the same in
    /// each run.
    ///
    /// # Shapes
    /// `grad` has the shape of the result, and any strides. The gradient is (batch, height, width, channels).
    /// # Errors
    /// As [`run`](Self::run), and [`Error::Shape`](crate::Error::Shape) if the gradient has another shape.
    /// # Precision
    /// Sums in f32, then stored: [`reference::avg_pool2d_backward`](crate::reference::avg_pool2d_backward).
    pub fn backward<T: Real>(&self, grad: &Tensor<T>, size: [usize; 2]) -> Result<Tensor<T>> {
        let op = "AvgPool2d::backward";
        call(op, || {
            let [batch, .., channels] = gradient_shape(op, grad.shape(), size)?;
            let axes = self.axes(op, &[batch, size[0], size[1], channels])?;
            run(op, PlaneFunction::MeanBackward(self.divisor), axes, grad)
        })
    }

    fn axes(&self, op: &'static str, shape: &[usize]) -> Result<[PlaneAxis; 2]> {
        image_shape(op, shape)?;
        let [rows, columns] = self.windows;
        Ok([PlaneAxis::windows(op, shape, 1, rows)?, PlaneAxis::windows(op, shape, 2, columns)?])
    }
}
