//! The backward pass of a sketched layer.

use super::products::{ProductEpilogue, RightFactor};
use super::sk_linear::{OP, SkLinear};
use crate::error::call;
use crate::gemm::{Gemm, add_sum_of_rows};
use crate::layout::{Layout, Real};
use crate::ops::training::{Gradients, Parameters, check_gradients};
use crate::ops::{self, Activation};
use crate::tensor::Tensor;
use crate::{Error, Precision, Result};

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
    /// parameters, summed over all leading axes: `S1s`, `S2s` and `bias` in f32, in the shapes of
    /// [`parameters`](crate::Parameters::parameters).
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
    ) -> Result<(Tensor<T>, Gradients)> {
        call("SkLinear::backward", || Gradients::of(|to| self.add_gradients(x, hidden, g, to)))
    }

    /// Like [`backward`](Self::backward), but adds the gradients of the parameters to `gradients`.
    ///
    /// # Shapes
    /// As for [`backward`](Self::backward).
    /// # Errors
    /// As for [`backward`](Self::backward), and as [`Parameters::pairs`] and [`Gradients::add`] for `gradients`.
    /// # Precision
    /// As for [`backward`](Self::backward).
    pub fn backward_into(
        &self,
        x: &Tensor<T>,
        hidden: &Tensor<T>,
        g: &Tensor<T>,
        gradients: &mut Gradients,
    ) -> Result<Tensor<T>> {
        call("SkLinear::backward_into", || {
            check_gradients(OP, gradients, &self.parameters())?;
            self.add_gradients(x, hidden, g, gradients)
        })
    }

    fn add_gradients(
        &self,
        x: &Tensor<T>,
        hidden: &Tensor<T>,
        g: &Tensor<T>,
        gradients: &mut Gradients,
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
        let [first, second] = self.trained_layouts([inner, self.outputs()], 0);
        let mut add = |name, layout: Layout, [a, b]: [&Tensor<T>; 2], alpha: f32| {
            gradients.add_with(self.gpu(), name, layout, |to, beta| {
                let product = Gemm::new(a, b).out::<f32>().pinned(self.pin).precision(Precision::Strict);
                let product = product.alpha(alpha).beta(beta);
                let whole = Layout::contiguous(OP, &[a.shape()[0], b.shape()[1]])?;
                to.write_part(whole, |to| product.run_into(to))
            })
        };
        add("S1s", first, [&x.t(), &through.slice(1, ..inner)?], self.scale())?;
        add("S2s", second, [&hidden.slice(1, inner..)?.t(), &g], 1.0)?;
        if self.bias.is_some() {
            add_sum_of_rows(&g, self.pin, gradients, "bias")?;
        }
        Ok(dx)
    }
}
