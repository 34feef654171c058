//! Comparisons, which make masks, and functions of masks.
//!
//! A mask is a tensor of i8: 1 where a condition holds, 0 where it does not. Functions treat any number other than 0 as 1.

use super::argument::Argument;
use super::compute::{apply, compute};
use super::function::Function;
use super::operation::{Arguments, Elementwise};
use crate::Result;
use crate::error::{Named, call};
use crate::gpu::View;
use crate::layout::Element;
use crate::tensor::Tensor;

/// Where $a = b$: a mask of 1 and 0. NaN equals nothing.
///
/// # Shapes
/// As [`add`](super::add).
/// # Errors
/// As [`add`](super::add).
/// # Precision
/// Exact, except that subnormal reals may count as 0.
pub fn equal<'a, T: Element>(
    a: impl Into<Argument<'a, T>>,
    b: impl Into<Argument<'a, T>>,
) -> Result<Tensor<i8>> {
    apply(Function::Equal, [a.into(), b.into()]).named("equal")
}

/// Where $a \ne b$: a mask of 1 and 0. NaN differs from everything.
///
/// # Shapes
/// As [`add`](super::add).
/// # Errors
/// As [`add`](super::add).
/// # Precision
/// Exact, except that subnormal reals may count as 0.
pub fn not_equal<'a, T: Element>(
    a: impl Into<Argument<'a, T>>,
    b: impl Into<Argument<'a, T>>,
) -> Result<Tensor<i8>> {
    apply(Function::NotEqual, [a.into(), b.into()]).named("not_equal")
}

/// Where $a < b$: a mask of 1 and 0. False for NaN.
///
/// # Shapes
/// As [`add`](super::add).
/// # Errors
/// As [`add`](super::add).
/// # Precision
/// Exact, except that subnormal reals may count as 0.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let x = gpu.tensor(&[1.0f32, 2.0, 3.0], [3])?;
/// assert_eq!(tilewise::ops::less(&x, 2.5)?.to_vec()?, [1i8, 1, 0]);
/// # Ok(())
/// # }
/// ```
pub fn less<'a, T: Element>(
    a: impl Into<Argument<'a, T>>,
    b: impl Into<Argument<'a, T>>,
) -> Result<Tensor<i8>> {
    apply(Function::Less, [a.into(), b.into()]).named("less")
}

/// Where $a \le b$: a mask of 1 and 0. False for NaN.
///
/// # Shapes
/// As [`add`](super::add).
/// # Errors
/// As [`add`](super::add).
/// # Precision
/// Exact, except that subnormal reals may count as 0.
pub fn less_or_equal<'a, T: Element>(
    a: impl Into<Argument<'a, T>>,
    b: impl Into<Argument<'a, T>>,
) -> Result<Tensor<i8>> {
    apply(Function::LessOrEqual, [a.into(), b.into()]).named("less_or_equal")
}

/// Where $a > b$: a mask of 1 and 0. False for NaN.
///
/// # Shapes
/// As [`add`](super::add).
/// # Errors
/// As [`add`](super::add).
/// # Precision
/// Exact, except that subnormal reals may count as 0.
pub fn greater<'a, T: Element>(
    a: impl Into<Argument<'a, T>>,
    b: impl Into<Argument<'a, T>>,
) -> Result<Tensor<i8>> {
    apply(Function::Greater, [a.into(), b.into()]).named("greater")
}

/// Where $a \ge b$: a mask of 1 and 0. False for NaN.
///
/// # Shapes
/// As [`add`](super::add).
/// # Errors
/// As [`add`](super::add).
/// # Precision
/// Exact, except that subnormal reals may count as 0.
pub fn greater_or_equal<'a, T: Element>(
    a: impl Into<Argument<'a, T>>,
    b: impl Into<Argument<'a, T>>,
) -> Result<Tensor<i8>> {
    apply(Function::GreaterOrEqual, [a.into(), b.into()]).named("greater_or_equal")
}

/// Where both masks are set.
///
/// # Shapes
/// As [`add`](super::add).
/// # Errors
/// As [`add`](super::add).
/// # Precision
/// Exact.
pub fn and(a: &Tensor<i8>, b: &Tensor<i8>) -> Result<Tensor<i8>> {
    apply(Function::And, [Argument::Tensor(a), Argument::Tensor(b)]).named("and")
}

/// Where at least one of two masks is set.
///
/// # Shapes
/// As [`add`](super::add).
/// # Errors
/// As [`add`](super::add).
/// # Precision
/// Exact.
pub fn or(a: &Tensor<i8>, b: &Tensor<i8>) -> Result<Tensor<i8>> {
    apply(Function::Or, [Argument::Tensor(a), Argument::Tensor(b)]).named("or")
}

/// Where a mask is not set.
///
/// # Shapes
/// As [`neg`](super::neg).
/// # Errors
/// As [`neg`](super::neg).
/// # Precision
/// Exact.
pub fn not(a: &Tensor<i8>) -> Result<Tensor<i8>> {
    apply(Function::Not, [Argument::Tensor(a)]).named("not")
}

/// The elements of `then` where a mask is set, those of `otherwise` elsewhere. Both may be numbers. An element that is
/// not selected does not affect the result, even if it is NaN.
///
/// # Shapes
/// The mask and the arguments broadcast as in [`add`](super::add).
/// # Errors
/// As [`add`](super::add), except that `then` and `otherwise` may both be numbers.
/// # Precision
/// Every selected element keeps its value.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops;
///
/// let x = gpu.tensor(&[-1.0f32, 2.0, f32::NAN], [3])?;
/// let positive = ops::select(&ops::greater(&x, 0.0)?, &x, 0.0)?;
/// assert_eq!(positive.to_vec()?, [0.0, 2.0, 0.0]);
/// # Ok(())
/// # }
/// ```
pub fn select<'a, T: Element>(
    mask: &Tensor<i8>,
    then: impl Into<Argument<'a, T>>,
    otherwise: impl Into<Argument<'a, T>>,
) -> Result<Tensor<T>> {
    call("select", || {
        let (op, values) = (Function::Select.name(), [then.into(), otherwise.into()]);
        let mut operands: Vec<View<'_>> = vec![mask.view()];
        let (mut is_number, mut numbers) = ([false; 3], Vec::new());
        for (at, value) in values.into_iter().enumerate() {
            if let Some(tensor) = value.tensor() {
                mask.same_gpu(op, tensor)?;
                operands.push(tensor.view());
            }
            if let Some(number) = value.number(op)? {
                is_number[at + 1] = true;
                numbers.push(number);
            }
        }
        let function = Elementwise::Apply(Function::Select, Arguments::with_numbers(is_number));
        compute(function, &operands, &numbers)
    })
}

/// The elements of `a`, limited to the range from `lowest` to `highest`; `highest` if the range is empty. NaN stays NaN.
///
/// # Shapes
/// As [`add`](super::add).
/// # Errors
/// As [`add`](super::add); [`Error::Input`](crate::Error::Input) if no argument is a tensor.
/// # Precision
/// Exact, except that subnormal reals may count as 0.
pub fn clamp<'a, T: Element>(
    a: impl Into<Argument<'a, T>>,
    lowest: impl Into<Argument<'a, T>>,
    highest: impl Into<Argument<'a, T>>,
) -> Result<Tensor<T>> {
    apply(Function::Clamp, [a.into(), lowest.into(), highest.into()]).named("clamp")
}
