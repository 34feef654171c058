//! The backward pass of a sketched layer, and gradient descent.

use super::products::{ProductEpilogue, RightFactor};
use super::sk_linear::{OP, SkLinear};
use crate::error::call;
use crate::gemm::Gemm;
use crate::layout::Real;
use crate::ops::descent::{Trained, gradient_step};
use crate::ops::{self, Activation, Rate};
use crate::tensor::Tensor;
use crate::{Error, Precision, Result};

/// The gradients of a layer's parameters. They are f32 for all types of layers.
#[derive(Debug)]
pub struct ParameterGradients {
    /// Gradient of S1, (in, TR) like [`SkLinear::s1`].
    pub s1: Tensor<f32>,
    /// Gradient of S2, (TR, out) like [`SkLinear::s2`].
    pub s2: Tensor<f32>,
    /// Gradient of the bias, (out), if there is one.
    pub bias: Option<Tensor<f32>>,
}

impl<T: Real> SkLinear<T> {
    /// The backward pass: the gradients of a loss with respect to `x` and the parameters, from `g`, the gradient with
    /// respect to the outputs.
    ///
    /// With h the result of [`hidden`](Self::hidden), and F and G the two factors,
    /// $\partial x = \frac{1}{2T} (g G^T) F^T$. The trained columns of F have the gradient $\frac{1}{2T} x^T (g G^T)$,
    /// the trained rows of G have $h^T g$. This takes four products, and a sum for the bias; no intermediate result is
    /// as large as the dense weight. With an activation, g is first multiplied by its slope at $hG + b$, which is
    /// computed again.
    ///
    /// # Shapes
    /// `x` (..., in), `hidden` (..., 2TR), `g` (..., out) -> the gradient of x (..., in), and the gradients of the
    /// parameters, summed over all leading axes.
    /// # Errors
    /// [`Error::Shape`] if the shapes do not match; [`Error::Gpu`] if operands are on different devices;
    /// [`Error::OutOfMemory`] or [`Error::Limit`] if a result does not fit.
    /// # Precision
    /// Products sum in f32. $g G^T$ is rounded to `T`; the gradients of parameters are not.
    pub fn backward(
        &self,
        x: &Tensor<T>,
        hidden: &Tensor<T>,
        g: &Tensor<T>,
    ) -> Result<(Tensor<T>, ParameterGradients)> {
        call("SkLinear::backward", || {
            let gpu = self.gpu();
            let mut gradients = ParameterGradients {
                s1: gpu.empty([self.inputs(), self.inner()])?,
                s2: gpu.empty([self.inner(), self.outputs()])?,
                bias: self.bias.as_ref().map(|bias| gpu.empty(bias.shape())).transpose()?,
            };
            let dx = self.backward_sums(x, hidden, g, &mut gradients, Accumulate::Overwrite)?;
            Ok((dx, gradients))
        })
    }

    /// Like [`backward`](Self::backward), but adds the gradients of the parameters to `gradients`.
    ///
    /// # Shapes
    /// As for [`backward`](Self::backward).
    /// # Errors
    /// As for [`backward`](Self::backward); [`Error::Shape`] if `gradients` belong to another layer; [`Error::Input`]
    /// if its tensors are not uniquely owned.
    /// # Precision
    /// As for [`backward`](Self::backward).
    pub fn backward_into(
        &self,
        x: &Tensor<T>,
        hidden: &Tensor<T>,
        g: &Tensor<T>,
        gradients: &mut ParameterGradients,
    ) -> Result<Tensor<T>> {
        call("SkLinear::backward_into", || {
            self.check_gradients(gradients)?;
            self.backward_sums(x, hidden, g, gradients, Accumulate::Add)
        })
    }

    fn backward_sums(
        &self,
        x: &Tensor<T>,
        hidden: &Tensor<T>,
        g: &Tensor<T>,
        gradients: &mut ParameterGradients,
        accumulate: Accumulate,
    ) -> Result<Tensor<T>> {
        self.check(x, self.inputs(), "the last axis must be the layer's inputs")?;
        self.check(hidden, 2 * self.inner(), "the last axis must be 2TR, as in the result of `hidden`")?;
        self.check(g, self.outputs(), "the last axis must be the layer's outputs")?;
        let leading = |x: &Tensor<T>| x.shape()[..x.shape().len() - 1].to_vec();
        for other in [hidden, g] {
            if leading(other) != leading(x) {
                let rule = "x, the result of `hidden` and the gradient must have the same leading axes";
                return Err(Error::shapes(OP, rule, other.shape(), x.shape()));
            }
        }
        let shape = x.shape();
        let [x, hidden, g] = [x.as_matrix()?, hidden.as_matrix()?, g.as_matrix()?];
        let g = match self.activation {
            Activation::None => g,
            activation => {
                let bias = ProductEpilogue { bias: self.bias.as_ref(), ..ProductEpilogue::default() };
                let sums: Tensor<T> = self.multiply(&hidden, RightFactor::Second, bias)?;
                ops::activate_backward(&sums, &g, activation)?
            }
        };
        let inner = self.inner();
        let through: Tensor<T> =
            self.multiply(&g, RightFactor::SecondTransposed, ProductEpilogue::default())?;
        let scaled = ProductEpilogue { alpha: self.scale(), ..ProductEpilogue::default() };
        let dx: Tensor<T> = self.multiply(&through, RightFactor::FirstTransposed, scaled)?;
        let dx = dx.reshape(shape)?;
        let beta = if accumulate == Accumulate::Add { 1.0 } else { 0.0 };
        let summed = |a: &Tensor<T>, b: &Tensor<T>, alpha: f32, c: &mut Tensor<f32>| {
            let product = Gemm::new(a, b).out::<f32>().pinned(self.pin).precision(Precision::Strict);
            product.alpha(alpha).beta(beta).run_into(c)
        };
        summed(&x.t(), &through.slice(1, ..inner)?, self.scale(), &mut gradients.s1)?;
        summed(&hidden.slice(1, inner..)?.t(), &g, 1.0, &mut gradients.s2)?;
        if let Some(bias) = &mut gradients.bias {
            // A row of ones is a view of a single number with stride 0.
            let ones =
                self.gpu().constant_tensor(T::from_f64(1.0))?.as_strided(&[1, g.shape()[0]], &[0, 0], 0)?;
            let row = bias.layout().reshape(&[1, self.outputs()])?;
            bias.write_part(row, |bias| summed(&ones, &g, 1.0, bias))?;
        }
        Ok(dx)
    }

    /// One step of gradient descent: $S \leftarrow S - \eta\\,\partial S$, and the same for the bias. The rate is a number, or
    /// a tensor of one element.
    ///
    /// The parameters are updated in place. If a clone of the layer or a view of its factors shares them, they are copied
    /// first, and the others keep the old values. If a check fails, no parameter changes.
    ///
    /// In the closure of [`Gpu::capture`](crate::Gpu::capture), every run of the replay performs a step. If the rate is a
    /// tensor, each run reads it; a number is the same in all runs.
    ///
    /// # Errors
    /// [`Error::Shape`] if `gradients` belong to another layer, or the rate is a tensor of several elements; [`Error::Gpu`]
    /// if they are on another device; [`Error::Input`] in the closure of `capture` if parameters are shared: the copies
    /// would belong to the replay; [`Error::OutOfMemory`] if a buffer does not fit.
    /// # Precision
    /// The step is computed in f32 and rounded to `T`, which may lose small steps. Train a layer of f32, and
    /// [`cast`](Self::cast) it for each forward pass.
    pub fn descend<'a>(&mut self, gradients: &ParameterGradients, rate: impl Into<Rate<'a>>) -> Result<()> {
        call("SkLinear::descend", || {
            self.check_gradients(gradients)?;
            self.views.take(); // so that the factors are uniquely owned
            let (inner, rows) = (self.inner(), self.second.shape()[0]);
            let mut trained = vec![
                Trained { whole: &mut self.first, part: Some((1, 0..inner)), gradient: &gradients.s1 },
                Trained {
                    whole: &mut self.second,
                    part: Some((0, rows - inner..rows)),
                    gradient: &gradients.s2,
                },
            ];
            if let (Some(bias), Some(gradient)) = (&mut self.bias, &gradients.bias) {
                trained.push(Trained::whole(bias, gradient));
            }
            gradient_step(OP, trained, rate.into())
        })
    }

    fn check_gradients(&self, gradients: &ParameterGradients) -> Result<()> {
        let bias = self.bias.as_ref().map_or(&[][..], |bias| bias.shape());
        let bias_gradient = gradients.bias.as_ref().map_or(&[][..], |bias| bias.shape());
        for (gradient, own) in [
            (gradients.s1.shape(), &[self.inputs(), self.inner()][..]),
            (gradients.s2.shape(), &[self.inner(), self.outputs()][..]),
            (bias_gradient, bias),
        ] {
            if gradient != own {
                let rule = "the gradients must have the shapes of this layer's parameters";
                return Err(Error::shapes(OP, rule, gradient, own));
            }
        }
        Ok(())
    }
}

/// How results are written to the gradients.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Accumulate {
    /// They overwrite the old values, which are never read.
    Overwrite,
    /// They are added to the old values.
    Add,
}
