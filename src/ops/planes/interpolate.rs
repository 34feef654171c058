//! Images in another size.

use super::axis::PlaneAxis;
use super::options::Interpolation;
use super::problem::{PlaneFunction, gradient_shape, image_shape};
use super::run::run;
use crate::Result;
use crate::error::call;
use crate::layout::Real;
use crate::tensor::Tensor;

/// Images with channels last in another size, larger or smaller. `PyTorch` calls it `interpolate`, too.
///
/// One launch. Positions are computed in integers, so that they are exact for images of any size; `PyTorch` computes them in
/// floating point, and its `nearest` may take a neighbour. A pixel of weight 0 is not used, even if it is NaN. A smaller image is
/// not smoothed first: average it with [`AdaptiveAvgPool2d`](super::AdaptiveAvgPool2d), if it should be.
///
/// # Shapes
/// `x` is (batch, height, width, channels), with any strides. The result has the size as its height and width, row-major.
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) if `x` has other axes than four, or no height or width;
/// [`Error::Input`](crate::Error::Input) if a number of the size is 0; [`Error::Limit`](crate::Error::Limit) if the least common
/// multiple of the old and the new extent of an axis is more than $2^{29}$ (with [`Corners::Aligned`](super::Corners), of the extents
/// less 1), if one image of one channel exceeds the device's binding size, or a number is $2^{31}$ or more;
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the result does not fit.
/// # Precision
/// Computed in f32, then stored; [`Interpolation::Nearest`] is exact: [`reference::interpolate`](crate::reference::interpolate).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops::{Corners, Interpolation, interpolate};
///
/// let x = gpu.tensor(&[0.0f32, 4.0], [1, 1, 2, 1])?;
/// assert_eq!(interpolate(&x, [1, 4], Interpolation::Nearest)?.to_vec()?, [0.0, 0.0, 4.0, 4.0]);
/// let linear = Interpolation::Bilinear(Corners::HalfPixel);
/// assert_eq!(interpolate(&x, [1, 4], linear)?.to_vec()?, [0.0, 1.0, 3.0, 4.0]);
/// let linear = Interpolation::Bilinear(Corners::Aligned);
/// assert_eq!(interpolate(&x, [1, 5], linear)?.to_vec()?, [0.0, 1.0, 2.0, 3.0, 4.0]);
/// # Ok(())
/// # }
/// ```
pub fn interpolate<T: Real>(x: &Tensor<T>, size: [usize; 2], by: Interpolation) -> Result<Tensor<T>> {
    let op = "interpolate";
    let function = match by {
        Interpolation::Nearest => PlaneFunction::Nearest,
        Interpolation::Bilinear(_) => PlaneFunction::Bilinear,
    };
    call(op, || run(op, function, axes(op, x.shape(), size, by)?, x))
}

/// The backward pass (vector-Jacobian product) of [`interpolate`]: the gradient of images of this height and width, from the gradient
/// `grad` of the result. Each pixel adds the weighted gradients of the pixels that used it. One launch, without atomics: the bits are
/// the same in each run.
///
/// # Shapes
/// `grad` is (batch, new height, new width, channels), with any strides. The gradient has the size as its height and width.
/// # Errors
/// As [`interpolate`].
/// # Precision
/// Sums in f32, then stored: [`reference::interpolate_backward`](crate::reference::interpolate_backward).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops::{Interpolation, interpolate_backward};
///
/// let grad = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [1, 1, 4, 1])?;
/// assert_eq!(interpolate_backward(&grad, [1, 2], Interpolation::Nearest)?.to_vec()?, [3.0, 7.0]);
/// # Ok(())
/// # }
/// ```
pub fn interpolate_backward<T: Real>(
    grad: &Tensor<T>,
    size: [usize; 2],
    by: Interpolation,
) -> Result<Tensor<T>> {
    let op = "interpolate_backward";
    let function = match by {
        Interpolation::Nearest => PlaneFunction::NearestBackward,
        Interpolation::Bilinear(_) => PlaneFunction::BilinearBackward,
    };
    call(op, || {
        let [batch, rows, columns, channels] = gradient_shape(op, grad.shape(), size)?;
        run(op, function, axes(op, &[batch, size[0], size[1], channels], [rows, columns], by)?, grad)
    })
}

fn axes(op: &'static str, shape: &[usize], size: [usize; 2], by: Interpolation) -> Result<[PlaneAxis; 2]> {
    image_shape(op, shape)?;
    Ok([PlaneAxis::sampled(op, shape, 1, size[0], by)?, PlaneAxis::sampled(op, shape, 2, size[1], by)?])
}
