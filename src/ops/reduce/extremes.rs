//! Largest and smallest elements, and their places.

use super::axes::Axes;
use super::compute::reduce;
use super::function::ReduceFunction;
use crate::Result;
use crate::layout::{Element, Real};
use crate::tensor::Tensor;

/// Largest elements. The result is NaN if any element is NaN.
///
/// # Shapes
/// As [`sum`](super::sum), but the reduced axes must not be empty.
/// # Errors
/// As [`sum`](super::sum); [`Error::Shape`](crate::Error::Shape) if there are no elements along the axes.
/// # Precision
/// Exact. The largest of zeros of both signs is +0.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let a = gpu.tensor(&[3.0f32, -4.0, f32::NAN, f32::INFINITY], [2, 2])?;
/// let found = tilewise::ops::max(&a, 1)?.to_vec()?;
/// assert!(found[0] == 3.0 && found[1].is_nan());
/// let b = gpu.tensor(&[3i8, -4, 5], [3])?;
/// assert_eq!(tilewise::ops::max(&b, ..)?.to_vec()?, [5]);
/// # Ok(())
/// # }
/// ```
pub fn max<T: Element>(a: &Tensor<T>, axes: impl Into<Axes>) -> Result<Tensor<T>> {
    reduce(ReduceFunction::Max, a, &axes.into())
}

/// Smallest elements. The result is NaN if any element is NaN.
///
/// # Shapes
/// As [`max`].
/// # Errors
/// As [`max`].
/// # Precision
/// Exact. The smallest of zeros of both signs is -0.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let a = gpu.tensor(&[3i32, -4, 5, 6], [2, 2])?;
/// assert_eq!(tilewise::ops::min(&a, 0)?.to_vec()?, [3, -4]);
/// # Ok(())
/// # }
/// ```
pub fn min<T: Element>(a: &Tensor<T>, axes: impl Into<Axes>) -> Result<Tensor<T>> {
    reduce(ReduceFunction::Min, a, &axes.into())
}

/// Largest absolute values. The result is NaN if any element is NaN.
///
/// # Shapes
/// As [`sum`](super::sum). The result for no elements is 0.
/// # Errors
/// As [`sum`](super::sum).
/// # Precision
/// Exact.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let a = gpu.tensor(&[3.0f32, -4.0, f32::NAN, f32::INFINITY], [2, 2])?;
/// let found = tilewise::ops::max_abs(&a, 1)?.to_vec()?;
/// assert!(found[0] == 4.0 && found[1].is_nan());
/// # Ok(())
/// # }
/// ```
pub fn max_abs<T: Real>(a: &Tensor<T>, axes: impl Into<Axes>) -> Result<Tensor<T>> {
    reduce(ReduceFunction::MaxAbs, a, &axes.into())
}

/// Indices of the largest elements along one axis. Of equal elements the first counts. If there is a NaN, it is the
/// index of the first NaN.
///
/// # Shapes
/// Any view of 1 to 6 axes. The result has the shape of `a` without `axis`.
/// # Errors
/// As [`max`].
/// # Precision
/// Exact. Zeros of both signs are equal.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let scores = gpu.tensor(&[0.1f32, 0.7, 0.2, 0.5, 0.5, 0.0], [2, 3])?;
/// assert_eq!(tilewise::ops::argmax(&scores, 1)?.to_vec()?, [1, 0]);
/// # Ok(())
/// # }
/// ```
pub fn argmax<T: Element>(a: &Tensor<T>, axis: usize) -> Result<Tensor<i32>> {
    reduce(ReduceFunction::ArgMax, a, &axis.into())
}

/// Indices of the smallest elements along one axis. Of equal elements the first counts. If there is a NaN, it is the
/// index of the first NaN.
///
/// # Shapes
/// As [`argmax`].
/// # Errors
/// As [`argmax`].
/// # Precision
/// As [`argmax`].
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let distances = gpu.tensor(&[4.0f32, 1.0, 1.0, 9.0], [4])?;
/// assert_eq!(tilewise::ops::argmin(&distances, 0)?.to_vec()?, [1]);
/// # Ok(())
/// # }
/// ```
pub fn argmin<T: Element>(a: &Tensor<T>, axis: usize) -> Result<Tensor<i32>> {
    reduce(ReduceFunction::ArgMin, a, &axis.into())
}
