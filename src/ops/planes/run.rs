//! Runs operations on images: checks the operands of a call, and computes one result or two.

use super::axis::PlaneAxis;
use super::problem::{PlaneFunction, PlaneProblem, result};
use crate::Result;
use crate::layout::Real;
use crate::tensor::Tensor;

/// The result of a max pooling with indices.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MaxPooled<T: Real> {
    /// The largest elements.
    pub y: Tensor<T>,
    /// Where they are, in the shape of `y`: `row * width + column` of the first largest element of the window, or of its first
    /// NaN. -1 for a window without elements.
    pub indices: Tensor<i32>,
}

/// The result of a function of images, or the gradient of images from that of a result.
pub(super) fn run<T: Real>(
    op: &'static str,
    function: PlaneFunction,
    axes: [PlaneAxis; 2],
    a: &Tensor<T>,
) -> Result<Tensor<T>> {
    let c = result(op, function, axes, a.layout())?;
    if c.is_empty() {
        return a.gpu().empty(c.shape());
    }
    let problem = PlaneProblem::new(op, function, axes, (a.layout(), T::DTYPE), None)?;
    Tensor::computed(a.gpu(), &problem, &[a.view()], &[], c.shape())
}

/// The largest elements of windows, and their indices.
pub(super) fn with_indices<T: Real>(
    op: &'static str,
    axes: [PlaneAxis; 2],
    x: &Tensor<T>,
) -> Result<MaxPooled<T>> {
    let (gpu, function) = (x.gpu(), PlaneFunction::LargestAndIndices);
    let c = result(op, function, axes, x.layout())?;
    if c.is_empty() {
        return Ok(MaxPooled { y: gpu.empty(c.shape())?, indices: gpu.empty(c.shape())? });
    }
    let problem = PlaneProblem::new(op, function, axes, (x.layout(), T::DTYPE), None)?;
    let [y, indices] = gpu.compute(&problem, &[x.view()], &[])?;
    Ok(MaxPooled { y: Tensor::from_output(y, c.shape())?, indices: Tensor::from_output(indices, c.shape())? })
}

/// The gradient of images from that of the largest elements of windows, whose indices these are.
pub(super) fn from_indices<T: Real>(
    op: &'static str,
    axes: [PlaneAxis; 2],
    indices: &Tensor<i32>,
    grad: &Tensor<T>,
) -> Result<Tensor<T>> {
    let (gpu, function) = (grad.same_gpu(op, indices)?, PlaneFunction::LargestBackward);
    let c = result(op, function, axes, grad.layout())?;
    if c.is_empty() {
        return gpu.empty(c.shape());
    }
    let of_grad = (grad.layout(), T::DTYPE);
    let problem = PlaneProblem::new(op, function, axes, of_grad, Some(indices.layout()))?;
    Tensor::computed(gpu, &problem, &[grad.view(), indices.view()], &[], c.shape())
}
