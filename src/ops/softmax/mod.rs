//! Softmax.

mod kernel;
mod plan;
pub(crate) mod problem;

use problem::SoftmaxProblem;

use crate::error::call;
use crate::layout::Real;
use crate::tensor::Tensor;
use crate::{Error, Result};
use problem::OP;

/// Softmax along the last axis: $e^{x_{i}} / \sum_{j} e^{x_{j}}$. The maximum of each row is subtracted first, so no
/// exponential overflows.
///
/// As in `NumPy` and `PyTorch`, a row that contains NaN or $+\infty$, or consists of $-\infty$ only, becomes NaN. In
/// other rows, $-\infty$ becomes 0.
///
/// # Shapes
/// Any view of 1 to 6 axes, with rows of any length. The result has the shape of `a`.
/// # Errors
/// [`Error::Shape`] if `a` has no axis; [`Error::Limit`] and [`Error::OutOfMemory`] as [`sum`](super::sum).
/// # Precision
/// Computed in f32, then stored: [`reference::softmax`](crate::reference::softmax).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let a = gpu.tensor(&[1000.0f32, 1000.0, 5.0, 5.0], [2, 2])?;
/// assert_eq!(tilewise::ops::softmax(&a)?.to_vec()?, [0.5; 4]);
/// # Ok(())
/// # }
/// ```
pub fn softmax<T: Real>(a: &Tensor<T>) -> Result<Tensor<T>> {
    call("softmax", || {
        let axis = a.shape().len().checked_sub(1);
        let axis = axis.ok_or_else(|| Error::shape(OP, "the operand must have an axis", a.shape()))?;
        if a.is_empty() {
            return a.gpu().empty(a.shape());
        }
        let problem = SoftmaxProblem::new(a.layout(), axis, T::DTYPE)?;
        let [c] = a.gpu().compute(&problem, &[a.view()], &[])?;
        Tensor::from_output(c, a.shape())
    })
}
