//! Reductions along an axis, and softmax.

mod kernel;
mod plan;
pub(crate) mod problem;

pub(crate) use problem::{AxisFunction, AxisProblem};

use crate::error::{Named, call};
use crate::layout::Real;
use crate::tensor::Tensor;
use crate::{Error, Result};
use problem::check_axis;

/// Sums along one axis.
///
/// # Shapes
/// Any view of up to 6 axes. The result has the shape of `a` without `axis`. The sum over an axis of extent 0 is 0.
/// # Errors
/// [`Error::Shape`] if `a` has no such axis; [`Error::Limit`] if a tensor exceeds the device's binding size;
/// [`Error::OutOfMemory`] if the result does not fit.
/// # Precision
/// Summed in f32, in an order that depends only on the layout and the device, then stored:
/// $|s - \sum_{i} a_{i}| \le \gamma_{n} \sum_{i} |a_{i}|$, see [`reference::sum`](crate::reference::sum). In f16, a
/// sum above 65,504 overflows to infinity: cast `a` to f32 first.
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
    reduce(AxisFunction::Sum, a, axis).named("sum")
}

/// Sums of squares along one axis.
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
pub fn sum_squares<T: Real>(a: &Tensor<T>, axis: usize) -> Result<Tensor<T>> {
    reduce(AxisFunction::SumSquares, a, axis).named("sum_squares")
}

/// Largest absolute values along one axis. The result is NaN if any element is NaN.
///
/// # Shapes
/// As [`sum`]; the result for an axis of extent 0 is 0.
/// # Errors
/// As [`sum`].
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
pub fn max_abs<T: Real>(a: &Tensor<T>, axis: usize) -> Result<Tensor<T>> {
    reduce(AxisFunction::MaxAbs, a, axis).named("max_abs")
}

/// An operation that removes an axis.
fn reduce<T: Real>(function: AxisFunction, a: &Tensor<T>, axis: usize) -> Result<Tensor<T>> {
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

/// Softmax along the last axis: $e^{x_{i}} / \sum_{j} e^{x_{j}}$. The maximum of each row is subtracted first, so no
/// exponential overflows.
///
/// As in `NumPy` and `PyTorch`, a row that contains NaN or $+\infty$, or consists of $-\infty$ only, becomes NaN. In
/// other rows, $-\infty$ becomes 0.
///
/// # Shapes
/// Any view of 1 to 6 axes, with rows of any length. The result has the shape of `a`.
/// # Errors
/// [`Error::Shape`] if `a` has no axis; [`Error::Limit`] and [`Error::OutOfMemory`] as [`sum`].
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
        let op = AxisFunction::Softmax.op();
        let axis = a.shape().len().checked_sub(1);
        let axis = axis.ok_or_else(|| Error::shape(op, "the operand must have an axis", a.shape()))?;
        if a.is_empty() {
            return a.gpu().empty(a.shape());
        }
        run(AxisFunction::Softmax, a, axis, a.shape())
    })
}

/// Runs a function along an axis; the result has this shape.
fn run<T: Real>(function: AxisFunction, a: &Tensor<T>, axis: usize, shape: &[usize]) -> Result<Tensor<T>> {
    let [c] = a.gpu().compute(&AxisProblem::new(function, a.layout(), axis, T::DTYPE)?, &[a.view()], &[])?;
    Tensor::from_output(c, shape)
}
