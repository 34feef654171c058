//! Reductions: functions of many elements that have one result.

mod axes;
mod compute;
mod extremes;
pub(crate) mod function;
mod kernel;
mod plan;
pub(crate) mod problem;
mod shares;
mod steps;
mod variance;
mod windows;

pub use axes::Axes;
pub use extremes::{argmax, argmin, max, max_abs, min};
pub(crate) use function::ReduceFunction;
pub(crate) use problem::ReduceProblem;
pub use variance::var;

use crate::Result;
use crate::layout::{Real, Summand};
use crate::tensor::Tensor;
use compute::reduce;

/// Sums of elements.
///
/// # Shapes
/// Any view of up to 6 axes, and any set of its axes: one (`1`), several (`[0, 2]`), or all (`..`). The result has the shape of
/// `a` without these axes; [`reshape`](Tensor::reshape) inserts axes of extent 1 again. The sum over an empty axis is 0.
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) if `a` lacks an axis, or one is given twice; [`Error::Limit`](crate::Error::Limit) if `a`
/// has
/// $2^{31}$ elements or more;
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the result does not fit.
/// # Precision
/// Reals are summed in f32, in an order that depends only on the layout and the device, then stored:
/// $|s - \sum_{i} a_{i}| \le \gamma_{n} \sum_{i} |a_{i}|$, see [`reference::sum`](crate::reference::sum). In f16, a
/// sum above 65,504 overflows to infinity: cast `a` to f32 first. Sums of i8 and i32 are i32, exact, and wrap beyond its range as
/// [`i32::wrapping_add`] does.
/// # Memory
/// If there are too few results to occupy the device, 4 bytes for each partial sum while it runs. If `a` exceeds a binding, each
/// window along the summed axes has its own partial sums: at most 256 for each result and window.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let a = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
/// assert_eq!(tilewise::ops::sum(&a, 0)?.to_vec()?, [5.0, 7.0, 9.0]);
/// assert_eq!(tilewise::ops::sum(&a, 1)?.to_vec()?, [6.0, 15.0]);
/// assert_eq!(tilewise::ops::sum(&a, ..)?.to_vec()?, [21.0]);
///
/// let counts = gpu.tensor(&[100i8; 4], [4])?;
/// assert_eq!(tilewise::ops::sum(&counts, 0)?.to_vec()?, [400i32]);
/// # Ok(())
/// # }
/// ```
pub fn sum<T: Summand>(a: &Tensor<T>, axes: impl Into<Axes>) -> Result<Tensor<T::Total>> {
    reduce(ReduceFunction::Sum, a, &axes.into())
}

/// Means of elements.
///
/// # Shapes
/// As [`sum`]. The mean over an empty axis is NaN (0 / 0).
/// # Errors
/// As [`sum`].
/// # Precision
/// The sum of [`sum`], divided by the number of elements, in f32: [`reference::mean`](crate::reference::mean). The sum must be
/// in the range of f32, for f16 too.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let image = gpu.tensor(&[1.0f32, 10.0, 3.0, 30.0], [1, 2, 2])?; // height, width, channels
/// assert_eq!(tilewise::ops::mean(&image, [0, 1])?.to_vec()?, [2.0, 20.0]);
/// # Ok(())
/// # }
/// ```
pub fn mean<T: Real>(a: &Tensor<T>, axes: impl Into<Axes>) -> Result<Tensor<T>> {
    reduce(ReduceFunction::Mean, a, &axes.into())
}

/// Products of elements.
///
/// # Shapes
/// As [`sum`]. The product over an empty axis is 1.
/// # Errors
/// As [`sum`].
/// # Precision
/// Multiplied in f32, in an order that depends only on the layout and the device, then stored:
/// [`reference::prod`](crate::reference::prod). A partial product outside the range of f32 becomes infinite or 0.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let a = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
/// assert_eq!(tilewise::ops::prod(&a, 1)?.to_vec()?, [2.0, 12.0]);
/// # Ok(())
/// # }
/// ```
pub fn prod<T: Real>(a: &Tensor<T>, axes: impl Into<Axes>) -> Result<Tensor<T>> {
    reduce(ReduceFunction::Product, a, &axes.into())
}

/// Sums of squares.
///
/// # Shapes
/// As [`sum`].
/// # Errors
/// As [`sum`].
/// # Precision
/// As [`sum`], of squares that are rounded to f32: [`reference::sum_squares`](crate::reference::sum_squares). Squares
/// below $2^{-126}$ may be flushed to 0, and squares above $2^{128}$ overflow to infinity: scale `a` first.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let a = gpu.tensor(&[3.0f32, -4.0, 5.0, 12.0], [2, 2])?;
/// assert_eq!(tilewise::ops::sum_squares(&a, 1)?.to_vec()?, [25.0, 169.0]);
/// # Ok(())
/// # }
/// ```
pub fn sum_squares<T: Real>(a: &Tensor<T>, axes: impl Into<Axes>) -> Result<Tensor<T>> {
    reduce(ReduceFunction::SumSquares, a, &axes.into())
}

/// Euclidean norms, $\sqrt{\sum_{i} a_{i}^{2}}$.
///
/// # Shapes
/// As [`sum`]. The norm over an empty axis is 0.
/// # Errors
/// As [`sum`].
/// # Precision
/// The root of [`sum_squares`] in f32, then stored: [`reference::norm`](crate::reference::norm). Squares below $2^{-126}$ may be
/// flushed to 0, and squares above $2^{128}$ overflow to infinity, for f16 too.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let gradient = gpu.tensor(&[1.0f32, 2.0, 4.0, 10.0], [2, 2])?;
/// assert_eq!(tilewise::ops::norm(&gradient, ..)?.to_vec()?, [11.0]);
/// # Ok(())
/// # }
/// ```
pub fn norm<T: Real>(a: &Tensor<T>, axes: impl Into<Axes>) -> Result<Tensor<T>> {
    reduce(ReduceFunction::Norm, a, &axes.into())
}
