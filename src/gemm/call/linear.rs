//! Linear layers: a product with a weight stored (out, in), a bias and an activation, in one launch.

use super::builder::Gemm;
use crate::error::{Named, call};
use crate::layout::{Element, Real};
use crate::ops::Activation;
use crate::ops::training::{ParameterMut, Parameters};
use crate::tensor::Tensor;
use crate::{Error, Result};

pub(super) const OP: &str = "linear";

/// Linear layer: activation($x W^T$ + bias), in one launch. It is computed in f32 and rounded once, to `T`.
///
/// # Shapes
/// `x` (..., batch, in), `weight` (out, in), `bias` (out) -> (..., batch, out). The weight is stored (out, in), as PyTorch
/// stores it, and is read in place.
/// # Errors
/// As [`matmul`](super::matmul); [`Error::Shape`] if the weight is not a matrix (out, in), or the bias is not a vector (out).
/// # Precision
/// Before the activation that of a product, see [`reference::gamma`](crate::reference::gamma); after it
/// [`reference::activation_tolerance`](crate::reference::activation_tolerance).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # use tilewise::{Activation, linear};
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let x = gpu.tensor(&[1.0f32, 2.0], [1, 2])?;
/// let weight = gpu.tensor(&[3.0f32, 4.0, -5.0, 0.5, 1.0, 1.0], [3, 2])?;
/// let bias = gpu.tensor(&[0.5f32, 0.0, 0.0], [3])?;
/// let y = linear(&x, &weight, Some(&bias), Activation::Relu)?;
/// assert_eq!(y.to_vec()?, [11.5, 0.0, 3.0]);
/// # Ok(())
/// # }
/// ```
pub fn linear<T: Real>(
    x: &Tensor<T>,
    weight: &Tensor<T>,
    bias: Option<&Tensor<T>>,
    activation: Activation,
) -> Result<Tensor<T>> {
    call("linear", || {
        check_weight(weight)?;
        if let Some(bias) = bias {
            check_bias(bias, weight)?;
        }
        product(x, weight, bias, activation, None)
    })
}

/// activation(x W^T + bias) + residual, in one launch. The weight and the bias were checked.
fn product<T: Real>(
    x: &Tensor<T>,
    weight: &Tensor<T>,
    bias: Option<&Tensor<T>>,
    activation: Activation,
    residual: Option<&Tensor<T>>,
) -> Result<Tensor<T>> {
    check_inputs(x, weight)?;
    let weight = weight.t();
    let mut product = Gemm::new(x, &weight).out::<T>().activation(activation);
    if let Some(bias) = bias {
        product = product.bias(bias);
    }
    if let Some(residual) = residual {
        product = product.residual(residual);
    }
    product.run()
}

/// A linear layer: a weight stored (out, in), an optional bias (out) and an activation.
///
/// [`backward`](Self::backward) computes its gradients, and [`descend`](Self::descend) performs a step of gradient
/// descent.
#[derive(Clone, Debug)]
pub struct Linear<T: Real> {
    pub(super) weight: Tensor<T>,
    pub(super) bias: Option<Tensor<T>>,
    pub(super) activation: Activation,
}

impl<T: Real> Linear<T> {
    /// A layer with these parameters. They are shared, not copied.
    ///
    /// # Errors
    /// [`Error::Shape`] if the weight is not a matrix (out, in), or the bias is not a vector (out); [`Error::Gpu`] if they are
    /// on different devices.
    pub fn new(weight: Tensor<T>, bias: Option<Tensor<T>>, activation: Activation) -> Result<Self> {
        call("Linear::new", || {
            check_weight(&weight)?;
            if let Some(bias) = &bias {
                weight.same_gpu(OP, bias)?;
                check_bias(bias, &weight)?;
            }
            Ok(Self { weight, bias, activation })
        })
    }

    /// The layer's output for `x` (..., batch, in), as [`linear`].
    ///
    /// # Errors
    /// As [`linear`].
    pub fn forward(&self, x: &Tensor<T>) -> Result<Tensor<T>> {
        linear(x, &self.weight, self.bias.as_ref(), self.activation).named("Linear::forward")
    }

    /// activation($x W^T$ + bias) + residual, in one launch: computed in f32 and rounded once. The gradient with respect to
    /// the residual is that of the output.
    ///
    /// # Shapes
    /// `x` (..., batch, in), `residual` (..., batch, out), as the result.
    /// # Errors
    /// As [`linear`]; [`Error::Shape`] if the residual does not have the result's shape.
    /// # Precision
    /// As [`linear`], and the rounding of the last sum.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::Activation;
    /// use tilewise::gemm::Linear;
    ///
    /// let weight = gpu.tensor(&[1.0f32, 2.0, -3.0, 4.0], [2, 2])?;
    /// let layer = Linear::new(weight, None, Activation::Relu)?;
    /// let x = gpu.tensor(&[2.0f32, 1.0], [1, 2])?;
    /// assert_eq!(layer.forward_with_residual(&x, &x)?.to_vec()?, [6.0, 1.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn forward_with_residual(&self, x: &Tensor<T>, residual: &Tensor<T>) -> Result<Tensor<T>> {
        product(x, &self.weight, self.bias.as_ref(), self.activation, Some(residual))
            .named("Linear::forward_with_residual")
    }

    /// The sums $x W^T$ + bias, before the activation. [`backward_from`](Self::backward_from) takes them.
    ///
    /// # Errors
    /// As [`linear`].
    pub fn sums(&self, x: &Tensor<T>) -> Result<Tensor<T>> {
        linear(x, &self.weight, self.bias.as_ref(), Activation::None).named("Linear::sums")
    }

    /// The weight (out, in).
    #[must_use]
    pub fn weight(&self) -> &Tensor<T> {
        &self.weight
    }

    /// The bias (out), if there is one.
    #[must_use]
    pub fn bias(&self) -> Option<&Tensor<T>> {
        self.bias.as_ref()
    }

    /// The activation.
    #[must_use]
    pub fn activation(&self) -> Activation {
        self.activation
    }
}

impl<T: Real> Parameters<T> for Linear<T> {
    /// `weight` (out, in), and `bias` (out) if the layer has one.
    fn parameters(&self) -> Vec<(String, &Tensor<T>)> {
        let bias = self.bias.as_ref().map(|bias| ("bias".into(), bias));
        [("weight".into(), &self.weight)].into_iter().chain(bias).collect()
    }

    fn parameters_mut(&mut self) -> Vec<(String, ParameterMut<'_, T>)> {
        let bias = self.bias.as_mut().map(|bias| ("bias".into(), ParameterMut::new(bias)));
        [("weight".into(), ParameterMut::new(&mut self.weight))].into_iter().chain(bias).collect()
    }
}

pub(super) fn check_weight<T: Element>(weight: &Tensor<T>) -> Result<()> {
    if weight.shape().len() == 2 {
        return Ok(());
    }
    Err(Error::shape(OP, "the weight must be a matrix (out, in)", weight.shape()))
}

/// Checks that the last axis of x matches the weight's inputs. The product would check it too, but its error would show the
/// transposed weight.
pub(super) fn check_inputs<T: Element>(x: &Tensor<T>, weight: &Tensor<T>) -> Result<()> {
    let (&[.., _, inputs], &[of_rows, of_columns]) = (x.shape(), weight.shape()) else {
        let rule = "x must be (..., batch, in), of at least two axes";
        return Err(Error::shapes(OP, rule, x.shape(), weight.shape()));
    };
    if of_columns == inputs {
        return Ok(());
    }
    Err(Error::Shape {
        op: OP,
        rule: format!("the weight must be (out, in) with in = {inputs}, the last axis of x").into(),
        remedy: if of_rows == inputs { ". Transpose it with .t() if it is stored (in, out)." } else { "" },
        lhs: weight.shape().to_vec(),
        rhs: Some(x.shape().to_vec()),
    })
}

pub(super) fn check_bias<B: Real, W: Element>(bias: &Tensor<B>, weight: &Tensor<W>) -> Result<()> {
    if bias.shape() == &weight.shape()[..1] {
        return Ok(());
    }
    let rule = "the bias must be a vector with an element for each output";
    Err(Error::shapes(OP, rule, bias.shape(), weight.shape()))
}
