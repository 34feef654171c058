//! Expressions of elements, each one launch.

use super::compute::compute;
use super::expr::Expr;
use super::kind::Kind;
use super::operation::Elementwise;
use super::problem::MAX_OPERANDS;
use super::written::write;
use crate::error::call;
use crate::gpu::View;
use crate::layout::{DType, Element};
use crate::plan::Scalar;
use crate::tensor::Tensor;
use crate::{Error, Result};
use std::sync::Arc;

/// The name of the function in errors.
const OP: &str = "map";

/// A tensor of any type, as an operand of [`map`].
pub trait MapOperand: sealed::Sealed {
    /// The tensor in the form that kernels bind.
    #[doc(hidden)]
    fn as_operand(&self) -> View<'_>;
}

impl<T: Element> MapOperand for Tensor<T> {
    fn as_operand(&self) -> View<'_> {
        self.view()
    }
}

mod sealed {
    pub trait Sealed {}
    impl<T: crate::layout::Element> Sealed for crate::tensor::Tensor<T> {}
}

/// An expression of the elements of one to four tensors, computed by one launch.
///
/// The closure receives a value for each tensor, and returns the value of the result. It runs once, on the host, and
/// builds the text of a kernel. The first call compiles the kernel, and later calls find it. The launch passes the
/// numbers of the expression, so other numbers need no other kernel. An expression has at most 10 numbers.
///
/// Tensors of reals are f32 in the expression, those of i8 and i32 are i32. The result is stored as elements of type `U`:
/// a real as any type of reals, an integer or a mask as i8 or i32. Integers wrap.
///
/// # Shapes
/// As [`add`](crate::ops::add).
/// # Errors
/// As [`add`](crate::ops::add); [`Error::Input`] if the expression contains a function that does not exist for its operands, if
/// its value cannot be stored as `U`, or if it has too many numbers or functions.
/// # Precision
/// That of each function: [`reference::apply`](crate::reference::apply). Intermediate values are not rounded to `U`.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops;
///
/// // Adam, in three launches a step.
/// let mut p = gpu.tensor(&[1.0f32, -2.0], [2])?;
/// let g = gpu.tensor(&[0.5f32, -0.1], [2])?; // the gradient, which stays the same here
/// let (mut m, mut v) = (gpu.zeros::<f32>([2])?, gpu.zeros::<f32>([2])?);
/// let (rate, b1, b2, epsilon) = (1e-2, 0.9f32, 0.999f32, 1e-8);
/// let launches = gpu.stats().launches;
/// for step in 1..=2 {
///     let (c1, c2) = (1.0 - b1.powi(step), 1.0 - b2.powi(step));
///     m = ops::map(&[&m, &g], |[m, g]| m * b1 + g * (1.0 - b1))?;
///     v = ops::map(&[&v, &g], |[v, g]| v * b2 + g.square() * (1.0 - b2))?;
///     p = ops::map(&[&p, &m, &v], |[p, m, v]| p - m * (rate / c1) / ((v * (1.0 / c2)).sqrt() + epsilon))?;
/// }
/// assert_eq!(gpu.stats().launches - launches, 6);
/// let found = p.to_vec()?; // while the gradient stays the same, each step has the size of the rate
/// assert!((found[0] - 0.98).abs() < 1e-5 && (found[1] + 1.98).abs() < 1e-5);
/// # Ok(())
/// # }
/// ```
pub fn map<U: Element, const N: usize>(
    operands: &[&dyn MapOperand; N],
    expression: impl FnOnce([Expr; N]) -> Expr,
) -> Result<Tensor<U>> {
    call(OP, || {
        if N == 0 || N > MAX_OPERANDS {
            let why = format!("there must be 1 to {MAX_OPERANDS} tensors, not {N}");
            return Err(Error::input("map: the operands", why));
        }
        let views = operands.map(MapOperand::as_operand);
        let (function, numbers) = mapped(views.each_ref().map(|view| view.dtype), U::DTYPE, expression)?;
        compute(function, &views, &numbers)
    })
}

/// The function that [`map`] launches for operands of these types and a result of type `to`, and its numbers.
///
/// # Errors
/// [`Error::Input`] as [`map`].
pub fn mapped<const N: usize>(
    types: [DType; N],
    to: DType,
    expression: impl FnOnce([Expr; N]) -> Expr,
) -> Result<(Elementwise, Vec<Scalar>)> {
    let values = types.map(|dtype| Expr::operand(Kind::of(dtype)));
    let call = write(&expression(values.clone()), &values, Kind::of(to))
        .map_err(|why| Error::input("map: the expression", why))?;
    let numbers = call.numbers.into_iter().map(Scalar::U32).collect();
    Ok((Elementwise::Map(Arc::new(call.written)), numbers))
}
