//! Functions of one tensor.

use super::argument::Argument;
use super::compute::{apply, compute, compute_into};
use super::function::Function;
use super::operation::Elementwise;
use crate::Result;
use crate::error::Named;
use crate::layout::{Element, Real};
use crate::ops::activation::Activation;
use crate::tensor::Tensor;

/// The negative $-a$ of every element. Unary minus does the same.
///
/// # Shapes
/// Any view of up to 6 axes. The result has the shape of `a`.
/// # Errors
/// [`Error::Limit`](crate::Error::Limit) if a tensor has $2^{31}$ elements or more;
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the result does not fit.
/// # Precision
/// Exact; integers wrap.
pub fn neg<T: Element>(a: &Tensor<T>) -> Result<Tensor<T>> {
    apply(Function::Neg, [Argument::Tensor(a)]).named("neg")
}

/// The absolute value $|a|$ of every element.
///
/// # Shapes
/// As [`neg`].
/// # Errors
/// As [`neg`].
/// # Precision
/// Exact; integers wrap.
pub fn abs<T: Element>(a: &Tensor<T>) -> Result<Tensor<T>> {
    apply(Function::Abs, [Argument::Tensor(a)]).named("abs")
}

/// -1, 0 or 1 for every element; NaN stays NaN.
///
/// # Shapes
/// As [`neg`].
/// # Errors
/// As [`neg`].
/// # Precision
/// Exact, except that subnormal reals may count as 0.
pub fn sign<T: Element>(a: &Tensor<T>) -> Result<Tensor<T>> {
    apply(Function::Sign, [Argument::Tensor(a)]).named("sign")
}

/// The square $a^2$ of every element.
///
/// # Shapes
/// As [`neg`].
/// # Errors
/// As [`neg`].
/// # Precision
/// Computed in f32, then stored: [`reference::apply`](crate::reference::apply). Squares beyond the range of f32, or of `T`, are
/// infinite, and those below $2^{-126}$ may be 0. Integers wrap.
pub fn square<T: Element>(a: &Tensor<T>) -> Result<Tensor<T>> {
    apply(Function::Square, [Argument::Tensor(a)]).named("square")
}

/// The square root $\sqrt a$ of every element; NaN below 0.
///
/// # Shapes
/// As [`neg`].
/// # Errors
/// As [`neg`].
/// # Precision
/// Computed in f32, then stored: [`reference::apply`](crate::reference::apply).
pub fn sqrt<T: Real>(a: &Tensor<T>) -> Result<Tensor<T>> {
    apply(Function::Sqrt, [Argument::Tensor(a)]).named("sqrt")
}

/// $1 / \sqrt a$ of every element: infinite at 0, NaN below.
///
/// # Shapes
/// As [`neg`].
/// # Errors
/// As [`neg`].
/// # Precision
/// Computed in f32, then stored: [`reference::apply`](crate::reference::apply).
pub fn rsqrt<T: Real>(a: &Tensor<T>) -> Result<Tensor<T>> {
    apply(Function::Rsqrt, [Argument::Tensor(a)]).named("rsqrt")
}

/// The reciprocal $1 / a$ of every element: infinite at 0.
///
/// # Shapes
/// As [`neg`].
/// # Errors
/// As [`neg`].
/// # Precision
/// Computed in f32, then stored: [`reference::apply`](crate::reference::apply).
pub fn recip<T: Real>(a: &Tensor<T>) -> Result<Tensor<T>> {
    apply(Function::Recip, [Argument::Tensor(a)]).named("recip")
}

/// The exponential $e^a$ of every element.
///
/// # Shapes
/// As [`neg`].
/// # Errors
/// As [`neg`].
/// # Precision
/// Computed in f32, then stored: [`reference::apply`](crate::reference::apply).
pub fn exp<T: Real>(a: &Tensor<T>) -> Result<Tensor<T>> {
    apply(Function::Exp, [Argument::Tensor(a)]).named("exp")
}

/// The natural logarithm $\ln a$ of every element: minus infinity at 0, NaN below.
///
/// # Shapes
/// As [`neg`].
/// # Errors
/// As [`neg`].
/// # Precision
/// Computed in f32, then stored: [`reference::apply`](crate::reference::apply).
pub fn log<T: Real>(a: &Tensor<T>) -> Result<Tensor<T>> {
    apply(Function::Log, [Argument::Tensor(a)]).named("log")
}

/// The largest integer that is at most a, for every element.
///
/// # Shapes
/// As [`neg`].
/// # Errors
/// As [`neg`].
/// # Precision
/// Exact.
pub fn floor<T: Real>(a: &Tensor<T>) -> Result<Tensor<T>> {
    apply(Function::Floor, [Argument::Tensor(a)]).named("floor")
}

/// The smallest integer that is at least a, for every element.
///
/// # Shapes
/// As [`neg`].
/// # Errors
/// As [`neg`].
/// # Precision
/// Exact.
pub fn ceil<T: Real>(a: &Tensor<T>) -> Result<Tensor<T>> {
    apply(Function::Ceil, [Argument::Tensor(a)]).named("ceil")
}

/// The nearest integer to every element; ties go to the even one.
///
/// # Shapes
/// As [`neg`].
/// # Errors
/// As [`neg`].
/// # Precision
/// Exact.
pub fn round<T: Real>(a: &Tensor<T>) -> Result<Tensor<T>> {
    apply(Function::Round, [Argument::Tensor(a)]).named("round")
}

/// The sine of every element, an angle of any size; NaN for an infinite one.
///
/// # Shapes
/// As [`neg`].
/// # Errors
/// As [`neg`].
/// # Precision
/// Computed in f32, then stored: [`reference::apply`](crate::reference::apply).
pub fn sin<T: Real>(a: &Tensor<T>) -> Result<Tensor<T>> {
    apply(Function::Sin, [Argument::Tensor(a)]).named("sin")
}

/// The cosine of every element, an angle of any size; NaN for an infinite one.
///
/// # Shapes
/// As [`neg`].
/// # Errors
/// As [`neg`].
/// # Precision
/// Computed in f32, then stored: [`reference::apply`](crate::reference::apply).
pub fn cos<T: Real>(a: &Tensor<T>) -> Result<Tensor<T>> {
    apply(Function::Cos, [Argument::Tensor(a)]).named("cos")
}

/// The hyperbolic tangent of every element.
///
/// # Shapes
/// As [`neg`].
/// # Errors
/// As [`neg`].
/// # Precision
/// Computed in f32, then stored: [`reference::apply`](crate::reference::apply).
pub fn tanh<T: Real>(a: &Tensor<T>) -> Result<Tensor<T>> {
    apply(Function::Tanh, [Argument::Tensor(a)]).named("tanh")
}

/// The logistic function $1 / (1 + e^{-a})$ of every element.
///
/// # Shapes
/// As [`neg`].
/// # Errors
/// As [`neg`].
/// # Precision
/// Computed in f32, then stored: [`reference::apply`](crate::reference::apply).
pub fn sigmoid<T: Real>(a: &Tensor<T>) -> Result<Tensor<T>> {
    apply(Function::Sigmoid, [Argument::Tensor(a)]).named("sigmoid")
}

/// Applies an [`Activation`] to every element.
///
/// # Shapes
/// Any view of up to 6 axes. The result has the shape of `a`.
/// # Errors
/// [`Error::Limit`](crate::Error::Limit) if a tensor has $2^{31}$ elements or more;
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the result does not fit.
/// # Precision
/// Computed in f32 within [`reference::activation_tolerance`](crate::reference::activation_tolerance), then stored
/// ([`reference::store_tolerance`](crate::reference::store_tolerance)).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::{Activation, ops};
///
/// let a = gpu.tensor(&[-1.0f32, 0.0, 2.0], [3])?;
/// assert_eq!(ops::activate(&a, Activation::Relu)?.to_vec()?, [0.0, 0.0, 2.0]);
/// # Ok(())
/// # }
/// ```
pub fn activate<T: Real>(a: &Tensor<T>, activation: Activation) -> Result<Tensor<T>> {
    compute(Elementwise::Activate(activation), &[a.view()], &[]).named("activate")
}

/// The backward pass of an [`Activation`], $f'(a)\\,g$: the gradient with respect to a, from the gradient g with respect
/// to $f(a)$.
///
/// # Shapes
/// As [`add`](super::add). The derivative of relu at 0 is 0.
/// # Errors
/// As [`add`](super::add).
/// # Precision
/// Computed in f32, then stored: [`reference::activations_backward`](crate::reference::activations_backward).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::{Activation, ops};
///
/// let a = gpu.tensor(&[-1.0f32, 0.0, 2.0], [3])?;
/// let g = gpu.tensor(&[3.0f32, 4.0, 5.0], [3])?;
/// assert_eq!(ops::activate_backward(&a, &g, Activation::Relu)?.to_vec()?, [0.0, 0.0, 5.0]);
/// # Ok(())
/// # }
/// ```
pub fn activate_backward<T: Real>(a: &Tensor<T>, g: &Tensor<T>, activation: Activation) -> Result<Tensor<T>> {
    let op = "activate_backward";
    a.same_gpu(op, g)
        .and_then(|_| compute(Elementwise::ActivateBackward(activation), &[a.view(), g.view()], &[]))
        .named(op)
}

/// Writes an [`Activation`] of every element of `a` to `c`, a uniquely owned tensor.
///
/// # Shapes
/// `c` has the shape of `a`, and any strides without overlap.
/// # Errors
/// As [`activate`], and as [`add_into`](super::add_into) for `c`.
/// # Precision
/// As [`activate`].
pub fn activate_into<T: Real>(a: &Tensor<T>, activation: Activation, c: &mut Tensor<T>) -> Result<()> {
    compute_into(Elementwise::Activate(activation), &[a], c).named("activate_into")
}
