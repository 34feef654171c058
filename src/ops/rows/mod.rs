//! Operations along one axis: sums, largest magnitudes and softmax.
//!
//! The functions that applications call are here. Each makes a [`RowsProblem`] of its operand and runs it.

mod kernel;
mod plan;
mod problem;

pub use problem::{Rows, RowsDims, RowsProblem};

use crate::error::{Named, call};
use crate::layout::Real;
use crate::tensor::Tensor;
use crate::{Error, Result};
use problem::check_axis;

/// Sums along one axis.
///
/// # Shapes
/// The result has the shape of `a` without `axis`; an axis of extent 0 has sums 0. Any view of up to 6 axes.
/// # Errors
/// [`Error::Shape`] if there is no such axis; [`Error::Limit`] if a tensor exceeds what the device can bind;
/// [`Error::OutOfMemory`] without room for the result.
/// # Precision
/// Summed in f32, in an order that depends on the layout alone, then stored:
/// $|s - \sum_{i} a_{i}| \le \gamma_{n} \sum_{i} |a_{i}|$, see [`reference::sum`](crate::reference::sum). A sum
/// beyond 65,504 is infinite in f16: cast before.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let a = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
/// assert_eq!(tilewise::ops::sum(&a, 0)?.to_vec()?, [5.0, 7.0, 9.0]);
/// assert_eq!(tilewise::ops::sum(&a, 1)?.to_vec()?, [6.0, 15.0]);
/// # Ok(())
/// # }
/// ```
pub fn sum<T: Real>(a: &Tensor<T>, axis: usize) -> Result<Tensor<T>> {
    reduce(Rows::Sum, a, axis).named("sum")
}

/// Sums of squares along one axis.
///
/// # Shapes
/// As [`sum`].
/// # Errors
/// As [`sum`].
/// # Precision
/// As [`sum`], of squares that are rounded to f32:
/// [`reference::sum_squares`](crate::reference::sum_squares). Squares below $2^{-126}$ may count as 0, and beyond
/// $2^{128}$ they are infinite: scale before.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let a = gpu.tensor(&[3.0f32, -4.0, 5.0, 12.0], [2, 2])?;
/// assert_eq!(tilewise::ops::sum_squares(&a, 1)?.to_vec()?, [25.0, 169.0]);
/// # Ok(())
/// # }
/// ```
pub fn sum_squares<T: Real>(a: &Tensor<T>, axis: usize) -> Result<Tensor<T>> {
    reduce(Rows::SumSquares, a, axis).named("sum_squares")
}

/// Largest magnitudes along one axis. NaN counts as more than infinity: it shows, wherever it is.
///
/// # Shapes
/// As [`sum`]; an axis of extent 0 has largest magnitudes 0.
/// # Errors
/// As [`sum`].
/// # Precision
/// Exact: bits are compared as integers.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let a = gpu.tensor(&[3.0f32, -4.0, f32::NAN, f32::INFINITY], [2, 2])?;
/// let found = tilewise::ops::max_abs(&a, 1)?.to_vec()?;
/// assert!(found[0] == 4.0 && found[1].is_nan());
/// # Ok(())
/// # }
/// ```
pub fn max_abs<T: Real>(a: &Tensor<T>, axis: usize) -> Result<Tensor<T>> {
    reduce(Rows::MaxAbs, a, axis).named("max_abs")
}

/// What takes an axis away.
fn reduce<T: Real>(function: Rows, a: &Tensor<T>, axis: usize) -> Result<Tensor<T>> {
    check_axis(function.op(), a.layout(), axis)?;
    let mut shape = a.shape().to_vec();
    shape.remove(axis);
    if shape.contains(&0) {
        return a.gpu().empty(shape);
    }
    if a.is_empty() {
        return a.gpu().zeros(shape);
    }
    run(function, a, axis, &shape)
}

/// Softmax along the last axis: $e^{x_{i}} / \sum_{j} e^{x_{j}}$. The maximum of each row is subtracted first, so that
/// no exponential overflows.
///
/// A row with a NaN or $+\infty$, or of nothing but $-\infty$, is NaN, as `NumPy` and `PyTorch` have it; a $-\infty$ beside
/// a number is 0.
///
/// # Shapes
/// The result has the shape of `a`, any view of 1 to 6 axes; rows of any length.
/// # Errors
/// [`Error::Shape`] if `a` has no axis; [`Error::Limit`], [`Error::OutOfMemory`] as [`sum`].
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
        let op = Rows::Softmax.op();
        let axis = a.shape().len().checked_sub(1);
        let axis = axis.ok_or_else(|| Error::shape(op, "the operand must have an axis", a.shape()))?;
        if a.is_empty() {
            return a.gpu().empty(a.shape());
        }
        run(Rows::Softmax, a, axis, a.shape())
    })
}

fn run<T: Real>(function: Rows, a: &Tensor<T>, axis: usize, shape: &[usize]) -> Result<Tensor<T>> {
    let [c] = a.gpu().make(&RowsProblem::new(function, a.layout(), axis, T::DTYPE)?, &[a.view()], &[])?;
    Tensor::made(c, shape)
}
