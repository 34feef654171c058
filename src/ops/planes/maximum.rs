//! Max pooling.

use super::axis::{AxisWindows, PlaneAxis};
use super::options::{PoolPadding, PoolRounding};
use super::problem::{PlaneFunction, gradient_shape, image_shape};
use super::run::{MaxPooled, from_indices, run, with_indices};
use crate::Result;
use crate::error::call;
use crate::layout::Real;
use crate::tensor::Tensor;

/// Max pooling of images with channels last: the largest element of each window of each channel.
///
/// A window with a NaN is NaN. Padding has no elements: a window without any is $-\infty$, which only a dilation makes possible.
/// For the largest element of a whole image, [`ops::max`](crate::ops::max) over axes 1 and 2 reads the image with more of the
/// device.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops::MaxPool2d;
///
/// let x = gpu.tensor(&[1.0f32, 5.0, 2.0, 3.0, 4.0, 0.0], [1, 2, 3, 1])?; // rows (1, 5, 2) and (3, 4, 0)
/// let pool = MaxPool2d::new([2, 2]).stride([1, 1]);
/// let pooled = pool.with_indices(&x)?;
/// assert_eq!(pooled.y.to_vec()?, [5.0, 5.0]);
/// assert_eq!(pooled.indices.to_vec()?, [1, 1]);
/// let grad = gpu.tensor(&[10.0f32, 20.0], [1, 1, 2, 1])?;
/// assert_eq!(pool.backward(&pooled.indices, &grad, [2, 3])?.to_vec()?, [0.0, 30.0, 0.0, 0.0, 0.0, 0.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a pooling is computed by `run`"]
pub struct MaxPool2d([AxisWindows; 2]);

impl MaxPool2d {
    /// Windows of this height and width, next to each other, without padding.
    pub fn new(kernel: [usize; 2]) -> Self {
        Self(kernel.map(AxisWindows::new))
    }

    /// From the begin of a window to that of the next, down and to the right. The default is the kernel.
    pub fn stride(mut self, stride: [usize; 2]) -> Self {
        (self.0[0].stride, self.0[1].stride) = (stride[0], stride[1]);
        self
    }

    /// From an element of a window to the next, down and to the right. The default is 1.
    pub fn dilation(mut self, dilation: [usize; 2]) -> Self {
        (self.0[0].dilation, self.0[1].dilation) = (dilation[0], dilation[1]);
        self
    }

    /// Windows may begin in this padding, and end in it: `[1, 1]` on all sides, `[(0, 1), (0, 1)]` below and on the right.
    pub fn padding(mut self, padding: impl Into<PoolPadding>) -> Self {
        let PoolPadding([rows, columns]) = padding.into();
        (self.0[0].padding, self.0[1].padding) = (rows, columns);
        self
    }

    /// What happens to last elements that fill no window.
    pub fn rounding(mut self, rounding: PoolRounding) -> Self {
        (self.0[0].rounding, self.0[1].rounding) = (rounding, rounding);
        self
    }

    /// Computes the largest elements, in one launch.
    ///
    /// # Shapes
    /// `x` is (batch, height, width, channels), with any strides: a permuted view of (batch, channels, height, width) is read in
    /// place. The result is (batch, windows of the height, windows of the width, channels), row-major. An axis of n elements with
    /// padding p in total has $\lfloor (n + p - d (k - 1) - 1) / s \rfloor + 1$ windows of kernel k, dilation d and stride s.
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if `x` has other axes than four or no height or width, or the kernel is longer than the
    /// padded height or width, by the stride or more if windows are rounded up; [`Error::Input`](crate::Error::Input) if a number of the kernel, the stride or the dilation is 0, or the padding on a
    /// side is more than half of the kernel with its dilation, as in `PyTorch`; [`Error::Limit`](crate::Error::Limit) if one image of
    /// one channel exceeds the device's binding size, or a number is $2^{31}$ or more;
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the result does not fit.
    /// # Precision
    /// Exact: [`reference::max_pool2d`](crate::reference::max_pool2d). A device may store f16 below $2^{-14}$ as 0.
    pub fn run<T: Real>(&self, x: &Tensor<T>) -> Result<Tensor<T>> {
        let op = "MaxPool2d::run";
        call(op, || run(op, PlaneFunction::Largest, self.axes(op, x.shape())?, x))
    }

    /// As [`run`](Self::run), with the indices that [`backward`](Self::backward) needs; one launch.
    ///
    /// # Shapes
    /// As [`run`](Self::run). The indices are i32, in the shape of the result; that of a window without elements is -1.
    /// # Errors
    /// As [`run`](Self::run).
    /// # Precision
    /// As [`run`](Self::run): the same bits.
    pub fn with_indices<T: Real>(&self, x: &Tensor<T>) -> Result<MaxPooled<T>> {
        let op = "MaxPool2d::with_indices";
        call(op, || with_indices(op, self.axes(op, x.shape())?, x))
    }

    /// The backward pass (vector-Jacobian product): the gradient of images of this height and width, from the gradient `grad` of the
    /// result. Each element adds the gradients of the windows whose index names it. One launch, without atomics: the bits are the
    /// same in each run.
    ///
    /// # Shapes
    /// `indices` and `grad` have the shape of the result, and any strides. The gradient is (batch, height, width, channels).
    /// # Errors
    /// As [`run`](Self::run), and [`Error::Shape`](crate::Error::Shape) if the indices or the gradient have another shape;
    /// [`Error::Gpu`](crate::Error::Gpu) if they are on different devices. An index that names no element between the first and the last
    /// of its window is no error: its gradient is lost.
    /// # Precision
    /// Sums in f32, then stored: [`reference::max_pool2d_backward`](crate::reference::max_pool2d_backward).
    pub fn backward<T: Real>(
        &self,
        indices: &Tensor<i32>,
        grad: &Tensor<T>,
        size: [usize; 2],
    ) -> Result<Tensor<T>> {
        let op = "MaxPool2d::backward";
        call(op, || {
            let [batch, .., channels] = gradient_shape(op, grad.shape(), size)?;
            from_indices(op, self.axes(op, &[batch, size[0], size[1], channels])?, indices, grad)
        })
    }

    fn axes(&self, op: &'static str, shape: &[usize]) -> Result<[PlaneAxis; 2]> {
        image_shape(op, shape)?;
        let [rows, columns] = self.0;
        Ok([PlaneAxis::windows(op, shape, 1, rows)?, PlaneAxis::windows(op, shape, 2, columns)?])
    }
}
