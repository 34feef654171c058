//! A step of gradient descent.

use crate::layout::Real;
use crate::ops;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// Takes a step of this rate against each gradient; nothing changes unless all go together. Steps are computed in f32,
/// sums rounded to `T`. Others that hold a parameter keep what they had.
pub(super) fn step<T: Real>(
    op: &'static str,
    parameters: Vec<(&mut Tensor<T>, &Tensor<f32>)>,
    rate: f32,
) -> Result<()> {
    let mut moved = Vec::with_capacity(parameters.len());
    for (parameter, gradient) in &parameters {
        let gpu = parameter.same_gpu(op, gradient)?;
        if parameter.shape() != gradient.shape() {
            let rule = "the gradients must be those of this layer's parameters";
            return Err(Error::shapes(op, rule, gradient.shape(), parameter.shape()));
        }
        let step = ops::mul(gradient, &gpu.tensor(&[-rate], [])?)?;
        moved.push(ops::add(*parameter, &step.cast::<T>()?)?);
    }
    for ((parameter, _), moved) in parameters.into_iter().zip(moved) {
        *parameter = moved;
    }
    Ok(())
}
