//! Gradient descent.

use crate::layout::Real;
use crate::ops;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// Subtracts `rate` times its gradient from each parameter. If any pair does not match, no parameter changes. Computed
/// in f32 and rounded to `T`. Parameters are replaced, not overwritten: other owners of the old tensors keep the old
/// values.
pub(super) fn gradient_step<T: Real>(
    op: &'static str,
    parameters: Vec<(&mut Tensor<T>, &Tensor<f32>)>,
    rate: f32,
) -> Result<()> {
    let mut updated = Vec::with_capacity(parameters.len());
    for (parameter, gradient) in &parameters {
        let gpu = parameter.same_gpu(op, gradient)?;
        if parameter.shape() != gradient.shape() {
            let rule = "the gradients must be those of this layer's parameters";
            return Err(Error::shapes(op, rule, gradient.shape(), parameter.shape()));
        }
        let change = ops::mul(gradient, &gpu.tensor(&[-rate], [])?)?;
        updated.push(ops::add(*parameter, &change.cast::<T>()?)?);
    }
    for ((parameter, _), updated) in parameters.into_iter().zip(updated) {
        *parameter = updated;
    }
    Ok(())
}
