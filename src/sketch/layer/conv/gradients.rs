//! The backward pass of a sketched convolution.

use super::sk_conv2d::{OP, SkConv2d};
use crate::conv::{ConvGeometry, conv2d_backward};
use crate::error::call;
use crate::gemm::{Gemm, Pin, add_sum_of_rows};
use crate::layout::Real;
use crate::ops::training::{Gradients, Parameters, check_gradients};
use crate::tensor::Tensor;
use crate::{Error, Result};

impl<T: Real> SkConv2d<T> {
    /// The backward pass (vector-Jacobian product): the gradients of a loss with respect to `x` and the parameters, from its gradient
    /// `grad` with respect to the result. They are those of the convolution with S, for the gradient $\frac{1}{2T} g\\,U^T$ of its result.
    ///
    /// # Shapes
    /// `x` (batch, height, width, channels), `grad` as the result -> the gradient of `x`, in its shape, and those of `S1s` and `bias` in
    /// f32, in the shapes of [`parameters`](crate::Parameters::parameters).
    /// # Errors
    /// As [`conv2d_backward`]; [`Error::Shape`] if `grad` does not have the result's shape.
    /// # Precision
    /// As [`conv2d_backward`]; the gradient of the hidden channels is summed in f32 and rounded to `T`.
    pub fn backward(&self, x: &Tensor<T>, grad: &Tensor<T>) -> Result<(Tensor<T>, Gradients)> {
        call("SkConv2d::backward", || Gradients::of(|to| self.add_gradients(x, grad, to)))
    }

    /// As [`backward`](Self::backward), but adds the gradients of the parameters to `gradients`.
    ///
    /// # Shapes
    /// As [`backward`](Self::backward).
    /// # Errors
    /// As [`backward`](Self::backward), and as [`Parameters::pairs`] and [`Gradients::add`] for `gradients`.
    /// # Precision
    /// As [`backward`](Self::backward).
    pub fn backward_into(
        &self,
        x: &Tensor<T>,
        grad: &Tensor<T>,
        gradients: &mut Gradients,
    ) -> Result<Tensor<T>> {
        call("SkConv2d::backward_into", || {
            check_gradients(OP, gradients, &self.parameters())?;
            self.add_gradients(x, grad, gradients)
        })
    }

    fn add_gradients(&self, x: &Tensor<T>, grad: &Tensor<T>, gradients: &mut Gradients) -> Result<Tensor<T>> {
        let geometry = ConvGeometry::new(OP, x.layout(), self.kernels.layout(), &self.options)?;
        let hidden = geometry.output_shape();
        let [batch, height, width, _] = hidden;
        let shape = [batch, height, width, self.outputs()];
        if grad.shape() != shape {
            let rule = "the gradient must have the shape of the result";
            return Err(Error::shapes(OP, rule, grad.shape(), &shape));
        }
        x.same_gpu(OP, grad)?;
        let rows = grad.as_matrix()?;
        let through = Gemm::new(&rows, &self.frozen_matrix()?.t()).out::<T>().alpha(self.scale()).run()?;
        let through = through.reshape(hidden)?;
        let (of_x, of_kernels) = conv2d_backward(x, &self.kernels, None, &self.options, &through)?;
        if let Some(gradient) = of_kernels.get("weight") {
            gradients.add("S1s", gradient.clone())?;
        }
        if self.bias.is_some() {
            add_sum_of_rows(&rows, Pin::Free, gradients, "bias")?;
        }
        Ok(of_x)
    }
}
