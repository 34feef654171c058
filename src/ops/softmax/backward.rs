//! Gradients of softmax and its logarithm.

use super::function::SoftmaxFunction;
use super::problem::SoftmaxProblem;
use crate::Result;
use crate::error::call;
use crate::layout::Real;
use crate::tensor::Tensor;

/// The gradient of a [`softmax`](super::softmax) with the result $y$ and the gradient $g$ of the result: $y_{i} (g_{i} - \sum_{j}
/// g_{j} y_{j})$ along the axis. If the softmax had a scale, multiply by the scale. The gradient of the mask is this gradient,
/// summed over the axes along which the mask was broadcast.
///
/// One launch.
///
/// # Shapes
/// `y` and `grad` have one shape of 1 to 6 axes, and any strides. The result has that shape.
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) if the shapes differ, or there is no such axis; otherwise as
/// [`softmax`](super::softmax).
/// # Precision
/// Computed in f32, then stored: [`reference::softmax_backward`](crate::reference::softmax_backward).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let y = gpu.tensor(&[0.5f32, 0.5], [2])?;
/// let grad = gpu.tensor(&[1.0f32, 0.0], [2])?;
/// assert_eq!(tilewise::ops::softmax_backward(&y, &grad, 0)?.to_vec()?, [0.25, -0.25]);
/// # Ok(())
/// # }
/// ```
pub fn softmax_backward<T: Real>(y: &Tensor<T>, grad: &Tensor<T>, axis: usize) -> Result<Tensor<T>> {
    backward(SoftmaxFunction::SoftmaxBackward, y, grad, axis)
}

/// The gradient of a [`log_softmax`](super::log_softmax) with the result $y$ and the gradient $g$ of the result: $g_{i} - e^{y_{i}}
/// \sum_{j} g_{j}$ along the axis. If it had a scale, multiply by the scale.
///
/// One launch.
///
/// # Shapes
/// As [`softmax_backward`].
/// # Errors
/// As [`softmax_backward`].
/// # Precision
/// Computed in f32, then stored: [`reference::log_softmax_backward`](crate::reference::log_softmax_backward).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let y = tilewise::ops::log_softmax(&gpu.tensor(&[1.0f32, 1.0], [2])?, 0)?;
/// let grad = gpu.tensor(&[-1.0f32, 0.0], [2])?; // of the cross entropy with the first class
/// let found = tilewise::ops::log_softmax_backward(&y, &grad, 0)?.to_vec()?;
/// assert!((found[0] + 0.5).abs() < 1e-6 && (found[1] - 0.5).abs() < 1e-6);
/// # Ok(())
/// # }
/// ```
pub fn log_softmax_backward<T: Real>(y: &Tensor<T>, grad: &Tensor<T>, axis: usize) -> Result<Tensor<T>> {
    backward(SoftmaxFunction::LogSoftmaxBackward, y, grad, axis)
}

fn backward<T: Real>(
    function: SoftmaxFunction,
    y: &Tensor<T>,
    grad: &Tensor<T>,
    axis: usize,
) -> Result<Tensor<T>> {
    call(function.op(), || {
        function.check(y.layout(), Some(grad.layout()), axis)?;
        let gpu = y.same_gpu(function.op(), grad)?;
        if y.is_empty() {
            return gpu.empty(y.shape());
        }
        let problem = SoftmaxProblem::new(function, y.layout(), Some(grad.layout()), axis, T::DTYPE)?;
        Tensor::computed(gpu, &problem, &[y.view(), grad.view()], &[], y.shape())
    })
}
