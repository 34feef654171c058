//! The gradient of a program's result with respect to a loss.

use super::reduction::Reduction;
use crate::layout::{DType, Layout};
use crate::ops::elementwise::Argument;
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result};

/// The gradient of the final result with respect to a loss: a number, times a tensor if there is one.
pub(super) struct Upstream {
    pub(super) number: f32,
    pub(super) tensor: Option<Tensor<f32>>,
}

impl Upstream {
    /// The operands and scalars of a call for losses of this shape. A tensor has one element for each element of the
    /// result.
    pub(super) fn of(
        op: &'static str,
        gpu: &Gpu,
        g: Argument<'_, f32>,
        (reduction, shape): (Reduction, &[usize]),
    ) -> Result<Self> {
        let tensor = match g {
            Argument::Real(number) => return Ok(Self { number, tensor: None }),
            Argument::Integer(number) => {
                #[expect(clippy::cast_precision_loss, reason = "rounded to f32, as documented")]
                return Ok(Self { number: number as f32, tensor: None });
            }
            Argument::Tensor(tensor) => tensor,
        };
        crate::gpu::check_same_gpu(op, gpu, tensor.gpu())?;
        let fits = match reduction {
            Reduction::None => tensor.shape() == shape,
            Reduction::Mean | Reduction::Sum => tensor.len() == 1,
        };
        if !fits {
            let rule = match reduction {
                Reduction::None => "the gradient with respect to the losses must have their shape",
                Reduction::Mean | Reduction::Sum => {
                    "the gradient with respect to the loss must have one element"
                }
            };
            let shape = if reduction == Reduction::None { shape } else { &[] };
            return Err(Error::shapes(op, rule, tensor.shape(), shape));
        }
        // The kernels count its elements in row-major order.
        Ok(Self { number: 1.0, tensor: Some(tensor.contiguous()?) })
    }

    /// The layout of the tensor in its window.
    pub(super) fn layout(&self) -> Option<Layout> {
        self.tensor.as_ref().map(|tensor| tensor.layout().in_window(DType::F32))
    }
}
