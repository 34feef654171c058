//! The gradients of a norm, the statistics that they need, and the results of problems.

use crate::layout::{DType, Real};
use crate::tensor::Tensor;
use crate::{Error, Result};

/// The gradients of a norm's operands.
#[derive(Clone, Debug)]
pub struct NormGradients<T: Real> {
    /// The gradient of the operand. With a residual, it is the gradient of both.
    pub x: Tensor<T>,
    /// The gradient of gamma in f32, if there is a gamma.
    pub gamma: Option<Tensor<f32>>,
    /// The gradient of beta in f32, if there is a beta.
    pub beta: Option<Tensor<f32>>,
}

/// A statistic of this shape, from the start of its binding. An error says what the name must have.
pub(super) fn statistic<T: Real>(
    op: &'static str,
    (name, rule): (&str, &str),
    x: &Tensor<T>,
    of: &Tensor<f32>,
    shape: &[usize],
) -> Result<Tensor<f32>> {
    x.same_gpu(op, of)?;
    if of.shape() != shape {
        return Err(Error::Shape {
            op,
            rule: format!("{name} must have {rule}").into(),
            remedy: "",
            lhs: of.shape().to_vec(),
            rhs: Some(shape.to_vec()),
        });
    }
    let is_first = of.layout().is_contiguous() && of.layout().offset_in_window(DType::F32) == 0;
    let of = if is_first { of.clone() } else { of.copied()? };
    of.reshape([of.len()])
}
