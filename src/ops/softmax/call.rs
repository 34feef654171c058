//! Softmax and its logarithm without options.

use super::builder::Softmax;
use crate::Result;
use crate::layout::Real;
use crate::tensor::Tensor;

/// Softmax along an axis: $e^{x_{i}} / \sum_{j} e^{x_{j}}$. The maximum of each row is subtracted first, so no
/// exponential overflows. [`Softmax`] also takes a mask and a scale.
///
/// As in `NumPy` and `PyTorch`, a row that contains NaN or $+\infty$, or consists of $-\infty$ only, becomes NaN. In
/// other rows, $-\infty$ becomes 0.
///
/// One launch. A GPU reads each element once if a row fits the registers of a workgroup (4,096 elements) and its elements are
/// neighbours, and otherwise twice.
///
/// # Shapes
/// Any view of 1 to 6 axes, with rows of any length. The result has the shape of `x`.
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) if `x` has no such axis; [`Error::Limit`](crate::Error::Limit) and
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory) as [`sum`](crate::ops::sum).
/// # Precision
/// Computed in f32, then stored: [`reference::softmax`](crate::reference::softmax).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let x = gpu.tensor(&[1000.0f32, 1000.0, 5.0, 5.0], [2, 2])?;
/// assert_eq!(tilewise::ops::softmax(&x, 1)?.to_vec()?, [0.5; 4]);
/// assert_eq!(tilewise::ops::softmax(&x, 0)?.to_vec()?, [1.0, 1.0, 0.0, 0.0]);
/// # Ok(())
/// # }
/// ```
pub fn softmax<T: Real>(x: &Tensor<T>, axis: usize) -> Result<Tensor<T>> {
    Softmax::new(x, axis).run()
}

/// The logarithm of [`softmax`] along an axis: $x_{i} - \ln \sum_{j} e^{x_{j}}$. It is accurate even where the softmax itself
/// would be 0.
///
/// A row that contains NaN or $+\infty$, or consists of $-\infty$ only, becomes NaN. In other rows, $-\infty$ stays $-\infty$.
///
/// # Shapes
/// As [`softmax`].
/// # Errors
/// As [`softmax`].
/// # Precision
/// Computed in f32, then stored: [`reference::log_softmax`](crate::reference::log_softmax).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let x = gpu.tensor(&[0.0f32, -1000.0], [2])?;
/// assert_eq!(tilewise::ops::log_softmax(&x, 0)?.to_vec()?, [0.0, -1000.0]);
/// # Ok(())
/// # }
/// ```
pub fn log_softmax<T: Real>(x: &Tensor<T>, axis: usize) -> Result<Tensor<T>> {
    Softmax::new(x, axis).run_log()
}
