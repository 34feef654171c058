//! Activations of one tensor.

use super::compute::compute;
use super::operation::Elementwise;
use crate::Result;
use crate::error::call;
use crate::layout::Real;
use crate::ops::activation::Activation;
use crate::tensor::Tensor;

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
    call("activate", || compute(Elementwise::Activate(activation), &[a.view()], &[]))
}

/// The backward pass of an [`Activation`], $f'(a)\\,g$: the gradient with respect to a, from the gradient g with respect
/// to $f(a)$.
///
/// # Shapes
/// As [`add`](crate::ops::add). The derivative of relu at 0 is 0.
/// # Errors
/// As [`add`](crate::ops::add).
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
    let function = Elementwise::ActivateBackward(activation);
    call("activate_backward", || compute(function, &[a.view(), g.view()], &[]))
}
