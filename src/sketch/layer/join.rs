//! Copies: two matrices joined into one, and one in a buffer of its own.

use crate::layout::Real;
use crate::ops::{self, Activation};
use crate::tensor::Tensor;
use crate::{Gpu, Result};

/// Two matrices side by side (axis 1) or one below the other (axis 0).
pub(super) fn joined<T: Real>(gpu: &Gpu, axis: usize, parts: [&Tensor<T>; 2]) -> Result<Tensor<T>> {
    let mut shape = [parts[0].shape()[0], parts[0].shape()[1]];
    let split = shape[axis];
    shape[axis] += parts[1].shape()[axis];
    let mut whole = gpu.empty(shape)?;
    for (part, range) in parts.into_iter().zip([0..split, split..shape[axis]]) {
        let region = whole.layout().slice(axis, range)?;
        whole.narrowed(region, |region| ops::activate_into(part, Activation::None, region))?;
    }
    Ok(whole)
}

/// A copy in a buffer of its own.
pub(super) fn copied<T: Real>(x: &Tensor<T>) -> Result<Tensor<T>> {
    ops::activate(x, Activation::None)
}
