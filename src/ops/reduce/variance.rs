//! Variances.

use super::axes::Axes;
use super::compute::reduce;
use super::function::ReduceFunction;
use crate::Result;
use crate::layout::Real;
use crate::tensor::Tensor;

/// Variances, $\frac{1}{n - c} \sum_{i} (a_{i} - \bar{a})^{2}$ for $n$ elements with the mean $\bar{a}$. The correction $c$ is 0
/// for the variance of these elements. With 1, the result is an unbiased estimate of the variance of a population from this sample.
///
/// # Shapes
/// As [`sum`](super::sum). The result is NaN if there are no more elements than the correction.
/// # Errors
/// As [`sum`](super::sum).
/// # Precision
/// Computed in f32, then stored: [`reference::var`](crate::reference::var). Each element is read once. The kernel subtracts the
/// first element from all others, and merges the means and squared distances of groups of elements (Chan, Golub and `LeVeque`). So
/// the result is accurate even if the mean is large compared with the distances. Distances above $2^{64}$ overflow.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let a = gpu.tensor(&[1.0f32, 3.0, 5.0, 5.0], [2, 2])?;
/// assert_eq!(tilewise::ops::var(&a, 1, 0)?.to_vec()?, [1.0, 0.0]);
/// assert_eq!(tilewise::ops::var(&a, 1, 1)?.to_vec()?, [2.0, 0.0]);
/// # Ok(())
/// # }
/// ```
pub fn var<T: Real>(a: &Tensor<T>, axes: impl Into<Axes>, correction: usize) -> Result<Tensor<T>> {
    reduce(ReduceFunction::Variance { correction }, a, &axes.into())
}
