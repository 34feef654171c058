//! The gradients of a sketched layer, and a step along them.

use super::forward::as_matrix;
use super::products::{Epilogue, Right};
use super::{OP, SkLinear, copied};
use crate::error::call;
use crate::gemm::Gemm;
use crate::layout::{Layout, Real};
use crate::ops::{self, Activation};
use crate::tensor::Tensor;
use crate::{Error, Precision, Result};

/// The gradients of a layer's parameters, in f32 whatever the layer's type is.
#[derive(Debug)]
pub struct ParameterGradients {
    /// Of S1, (in, TR), as [`SkLinear::s1`].
    pub s1: Tensor<f32>,
    /// Of S2, (TR, out), as [`SkLinear::s2`].
    pub s2: Tensor<f32>,
    /// Of the bias, (out), where there is one.
    pub bias: Option<Tensor<f32>>,
}

impl<T: Real> SkLinear<T> {
    /// The gradients of a loss with respect to `x` and the parameters, from `g`, its gradient with respect to the outputs.
    ///
    /// With h the [`hidden`](Self::hidden) of `x`, F and G the factors: $\partial x = \frac{1}{2T} (g G^T) F^T$, and of
    /// the halves that are trained $\partial F = \frac{1}{2T} x^T (g G^T)$ and $\partial G = h^T g$. Four products, and
    /// a sum for the bias; nothing of the size of the dense weight is formed. Behind an activation g is first multiplied
    /// by its slope at $hG + b$, which is computed again.
    ///
    /// # Shapes
    /// `x` (..., in), `hidden` (..., 2TR), `g` (..., out) -> the gradient of x (..., in), and those of the parameters,
    /// summed over all axes in front.
    /// # Errors
    /// [`Error::Shape`] if the shapes do not go together; [`Error::Gpu`] if operands live on different devices;
    /// [`Error::OutOfMemory`], [`Error::Limit`] without room.
    /// # Precision
    /// As products: sums in f32; $g G^T$ is rounded to `T`, the gradients of parameters are not.
    pub fn backward(
        &self,
        x: &Tensor<T>,
        hidden: &Tensor<T>,
        g: &Tensor<T>,
    ) -> Result<(Tensor<T>, ParameterGradients)> {
        call("SkLinear::backward", || {
            let gpu = self.gpu();
            let mut gradients = ParameterGradients {
                s1: gpu.empty([self.inputs(), self.half()])?,
                s2: gpu.empty([self.half(), self.outputs()])?,
                bias: self.bias.as_ref().map(|bias| gpu.empty(bias.shape())).transpose()?,
            };
            let dx = self.backward_as(x, hidden, g, &mut gradients, Before::Nothing)?;
            Ok((dx, gradients))
        })
    }

    /// As [`backward`](Self::backward), with the gradients of the parameters added to given ones.
    ///
    /// # Shapes
    /// As [`backward`](Self::backward).
    /// # Errors
    /// As [`backward`](Self::backward); [`Error::Shape`] if `gradients` are of another layer; [`Error::Input`] if others
    /// hold their tensors.
    /// # Precision
    /// As [`backward`](Self::backward).
    pub fn backward_into(
        &self,
        x: &Tensor<T>,
        hidden: &Tensor<T>,
        g: &Tensor<T>,
        gradients: &mut ParameterGradients,
    ) -> Result<Tensor<T>> {
        call("SkLinear::backward_into", || {
            self.check_gradients(gradients)?;
            self.backward_as(x, hidden, g, gradients, Before::Kept)
        })
    }

    fn backward_as(
        &self,
        x: &Tensor<T>,
        hidden: &Tensor<T>,
        g: &Tensor<T>,
        gradients: &mut ParameterGradients,
        before: Before,
    ) -> Result<Tensor<T>> {
        self.check(x, self.inputs(), "the last axis must be the layer's inputs")?;
        self.check(hidden, 2 * self.half(), "the last axis must be that of what `hidden` returns")?;
        self.check(g, self.outputs(), "the last axis must be the layer's outputs")?;
        let in_front = |x: &Tensor<T>| x.shape()[..x.shape().len() - 1].to_vec();
        for other in [hidden, g] {
            if in_front(other) != in_front(x) {
                let rule = "x, what `hidden` returns and the gradient must have the same rows";
                return Err(Error::shapes(OP, rule, other.shape(), x.shape()));
            }
        }
        let shape = x.shape();
        let [x, hidden, g] = [as_matrix(x)?, as_matrix(hidden)?, as_matrix(g)?];
        let g = match self.activation {
            Activation::None => g,
            activation => {
                let bias = Epilogue { bias: self.bias.as_ref(), ..Epilogue::default() };
                let sums: Tensor<T> = self.multiply(&hidden, Right::Second, bias)?;
                ops::activate_backward(&sums, &g, activation)?
            }
        };
        let half = self.half();
        let through: Tensor<T> = self.multiply(&g, Right::SecondTransposed, Epilogue::default())?;
        let scaled = Epilogue { alpha: self.scale(), ..Epilogue::default() };
        let dx: Tensor<T> = self.multiply(&through, Right::FirstTransposed, scaled)?;
        let dx = dx.reshape(shape)?;
        let beta = if before == Before::Kept { 1.0 } else { 0.0 };
        let summed = |a: &Tensor<T>, b: &Tensor<T>, alpha: f32, c: &mut Tensor<f32>| {
            let product = Gemm::new(a, b).out::<f32>().pinned(self.pin).precision(Precision::Strict);
            product.alpha(alpha).beta(beta).run_into(c)
        };
        summed(&x.t(), &through.slice(1, ..half)?, self.scale(), &mut gradients.s1)?;
        summed(&hidden.slice(1, half..)?.t(), &g, 1.0, &mut gradients.s2)?;
        if let Some(bias) = &mut gradients.bias {
            // One row of ones, which is one number.
            let ones =
                self.gpu().tensor(&[T::from_f64(1.0)], [1])?.as_strided(&[1, g.shape()[0]], &[0, 0], 0)?;
            let row = bias.layout().reshape(&[1, self.outputs()])?;
            bias.narrowed(row, |bias| summed(&ones, &g, 1.0, bias))?;
        }
        Ok(dx)
    }

    /// One step of gradient descent, $S \leftarrow S - \eta\,\partial S$, and the bias likewise. Views and clones of the
    /// layer keep what they had.
    ///
    /// # Errors
    /// [`Error::Shape`] if `gradients` are of another layer; [`Error::Gpu`] if they live on another device;
    /// [`Error::OutOfMemory`] without room.
    /// # Precision
    /// Steps are computed in f32 and rounded to `T`, in which small ones are lost: train a layer of f32, and
    /// [`cast`](Self::cast) it for each step.
    pub fn descend(&mut self, gradients: &ParameterGradients, rate: f32) -> Result<()> {
        call("SkLinear::descend", || {
            self.check_gradients(gradients)?;
            let step = self.gpu().tensor(&[-rate], [])?;
            let half = self.half();
            let of = |gradient: &Tensor<f32>| ops::mul(gradient, &step)?.cast::<T>();
            let places = {
                let rows = self.second.shape()[0];
                [self.first.layout().slice(1, ..half)?, self.second.layout().slice(0, rows - half..)?]
            };
            let [first, second] = places;
            moved(&mut self.first, first, &of(&gradients.s1)?)?;
            moved(&mut self.second, second, &of(&gradients.s2)?)?;
            if let (Some(bias), Some(gradient)) = (&mut self.bias, &gradients.bias) {
                let place = *bias.layout();
                moved(bias, place, &of(gradient)?)?;
            }
            Ok(())
        })
    }

    fn check_gradients(&self, gradients: &ParameterGradients) -> Result<()> {
        let bias = self.bias.as_ref().map_or(&[][..], |bias| bias.shape());
        let given = gradients.bias.as_ref().map_or(&[][..], |bias| bias.shape());
        for (given, own) in [
            (gradients.s1.shape(), &[self.inputs(), self.half()][..]),
            (gradients.s2.shape(), &[self.half(), self.outputs()][..]),
            (given, bias),
        ] {
            if given != own {
                let rule = "the gradients must be those of this layer's parameters";
                return Err(Error::shapes(OP, rule, given, own));
            }
        }
        Ok(())
    }
}

/// What gradients were before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Nothing: they are overwritten, and never read.
    Nothing,
    /// They are added to.
    Kept,
}

/// Adds a step to a part of a tensor: to a copy of it, where others see it.
fn moved<T: Real>(whole: &mut Tensor<T>, part: Layout, step: &Tensor<T>) -> Result<()> {
    if whole.is_shared() {
        *whole = copied(whole)?;
    }
    whole.narrowed(part, |part| ops::add_assign(part, step))
}
