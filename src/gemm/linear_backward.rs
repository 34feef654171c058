//! The backward pass of linear layers, and gradient descent.

use super::builder::Gemm;
use super::linear::{Linear, OP, check_inputs};
use crate::error::call;
use crate::layout::Real;
use crate::ops::descent::{Trained, gradient_step};
use crate::ops::{self, Activation, Rate};
use crate::tensor::Tensor;
use crate::{Error, Precision, Result};

/// The gradients of a linear layer's parameters. They are f32 for all types of layers.
#[derive(Clone, Debug)]
pub struct LinearGradients {
    /// Gradient of the weight, (out, in).
    pub weight: Tensor<f32>,
    /// Gradient of the bias, (out), if there is one.
    pub bias: Option<Tensor<f32>>,
}

/// The backward pass of [`linear`](super::linear()): the gradients of a result with respect to `x`, the weight and the bias, from
/// `g`, the gradient with respect to the output.
///
/// With $h = g \circ f'(x W^T + b)$, the slope of the activation times g, they are $h W$, $h^T x$ and the sum of the rows
/// of h. Each is one product, which reads transposed operands in place. With an activation, one product computes the sums
/// $x W^T + b$ again, and one launch multiplies the slope by g; [`Linear::backward_from`] takes sums of the forward pass
/// instead.
///
/// # Shapes
/// `x` (..., batch, in), `weight` (out, in), `bias` (out), `g` (..., batch, out) -> the gradient of x, in its shape, and
/// those of the parameters, added over all leading axes.
/// # Errors
/// As [`linear`](super::linear()); [`Error::Shape`] if `g` does not have the output's shape.
/// # Precision
/// Products sum in f32. h is rounded to `T`, and so is the gradient of x; the gradients of parameters are not:
/// [`reference::LinearReference`](crate::reference::LinearReference).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::{Activation, Fill, linear, linear_backward, ops};
///
/// // A network of two layers learns to tell which of three numbers is the largest.
/// let x = gpu.random::<f32>([64, 3], Fill::Uniform, 1)?;
/// let largest = |row: &[f32]| (0..3).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap_or(0) as i32;
/// let targets: Vec<i32> = x.to_vec()?.chunks(3).map(largest).collect();
/// let targets = gpu.tensor(&targets, [64])?;
/// let mut w1 = gpu.random::<f32>([16, 3], Fill::Uniform, 2)?;
/// let mut b1 = gpu.zeros::<f32>([16])?;
/// let mut w2 = ops::mul(&gpu.random::<f32>([3, 16], Fill::Uniform, 3)?, 0.2)?;
///
/// let mut losses = Vec::new();
/// for _ in 0..20 {
///     let h = linear(&x, &w1, Some(&b1), Activation::Gelu)?;
///     let logits = linear(&h, &w2, None, Activation::None)?;
///     let (loss, g) = ops::cross_entropy_and_gradient(&logits, &targets)?;
///     let (gh, of_second) = linear_backward(&h, &w2, None, Activation::None, &g)?;
///     let (_, of_first) = linear_backward(&x, &w1, Some(&b1), Activation::Gelu, &gh)?;
///     ops::sub_assign(&mut w2, &of_second.weight)?; // the rate is 1
///     ops::sub_assign(&mut w1, &of_first.weight)?;
///     ops::sub_assign(&mut b1, &of_first.bias.expect("there is a bias"))?;
///     losses.push(loss.to_vec()?[0]);
/// }
/// assert!(losses[19] < 0.6 * losses[0], "{losses:?}");
/// # Ok(())
/// # }
/// ```
pub fn linear_backward<T: Real>(
    x: &Tensor<T>,
    weight: &Tensor<T>,
    bias: Option<&Tensor<T>>,
    activation: Activation,
    g: &Tensor<T>,
) -> Result<(Tensor<T>, LinearGradients)> {
    call("linear_backward", || Linear::new(weight.clone(), bias.cloned(), activation)?.backward(x, g))
}

impl<T: Real> Linear<T> {
    /// The backward pass, as [`linear_backward`].
    ///
    /// # Shapes
    /// As [`linear_backward`].
    /// # Errors
    /// As [`linear_backward`].
    /// # Precision
    /// As [`linear_backward`].
    pub fn backward(&self, x: &Tensor<T>, g: &Tensor<T>) -> Result<(Tensor<T>, LinearGradients)> {
        call("Linear::backward", || {
            let sums = self.sums_for_slope(x, g)?;
            self.new_gradients(x, sums.as_ref(), g)
        })
    }

    /// The backward pass with the stored result of [`sums`](Self::sums). It saves a product if the layer has an
    /// activation.
    ///
    /// # Shapes
    /// As [`linear_backward`]; `sums` has the output's shape.
    /// # Errors
    /// As [`linear_backward`]; [`Error::Shape`] if `sums` does not have the output's shape.
    /// # Precision
    /// As [`linear_backward`].
    pub fn backward_from(
        &self,
        x: &Tensor<T>,
        sums: &Tensor<T>,
        g: &Tensor<T>,
    ) -> Result<(Tensor<T>, LinearGradients)> {
        call("Linear::backward_from", || {
            self.check_output(x, sums)?;
            self.new_gradients(x, Some(sums), g)
        })
    }

    /// As [`backward`](Self::backward), but adds the gradients of the parameters to `gradients`, so that several parts of a
    /// batch make one step.
    ///
    /// # Shapes
    /// As [`linear_backward`].
    /// # Errors
    /// As [`linear_backward`]; [`Error::Shape`] if `gradients` belong to another layer; [`Error::Input`] if their tensors are
    /// not uniquely owned.
    /// # Precision
    /// As [`linear_backward`].
    pub fn backward_into(
        &self,
        x: &Tensor<T>,
        g: &Tensor<T>,
        gradients: &mut LinearGradients,
    ) -> Result<Tensor<T>> {
        call("Linear::backward_into", || {
            self.check_gradients(gradients)?;
            let all = [Some(&gradients.weight), gradients.bias.as_ref()];
            all.into_iter().flatten().try_for_each(|gradient| gradient.check_unshared(OP))?;
            let sums = self.sums_for_slope(x, g)?;
            self.gradients(x, sums.as_ref(), g, gradients, 1.0)
        })
    }

    /// A step of gradient descent: $W \leftarrow W - \eta\\,\partial W$, and the same for the bias. The rate is a number, or a
    /// tensor of one element.
    ///
    /// The parameters are updated in place. If another tensor shares one, it is copied first: the other keeps the old values.
    ///
    /// # Errors
    /// [`Error::Shape`] if `gradients` belong to another layer, or the rate is a tensor of several elements; [`Error::Gpu`] if
    /// they are on another device; [`Error::Input`] in the closure of [`Gpu::capture`](crate::Gpu::capture) if parameters are
    /// shared; [`Error::OutOfMemory`] if a buffer does not fit.
    /// # Precision
    /// The step is computed in f32 and rounded to `T`, which may lose small steps: train a layer of f32.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::{Activation, Linear};
    ///
    /// let mut layer = Linear::new(gpu.tensor(&[1.0f32, 2.0], [1, 2])?, None, Activation::None)?;
    /// let x = gpu.tensor(&[3.0f32, 4.0], [1, 2])?;
    /// let (of_x, gradients) = layer.backward(&x, &gpu.tensor(&[1.0f32], [1, 1])?)?;
    /// assert_eq!(of_x.to_vec()?, [1.0, 2.0]);
    /// layer.descend(&gradients, 0.5)?;
    /// assert_eq!(layer.weight().to_vec()?, [-0.5, 0.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn descend<'a>(&mut self, gradients: &LinearGradients, rate: impl Into<Rate<'a>>) -> Result<()> {
        call("Linear::descend", || gradient_step(OP, self.trained(gradients)?, rate.into()))
    }

    /// The parameters with their gradients, if these belong to the layer.
    pub(crate) fn trained<'a>(&'a mut self, gradients: &'a LinearGradients) -> Result<Vec<Trained<'a, T>>> {
        self.check_gradients(gradients)?;
        let mut trained = vec![Trained::whole(&mut self.weight, &gradients.weight)];
        if let (Some(bias), Some(gradient)) = (&mut self.bias, &gradients.bias) {
            trained.push(Trained::whole(bias, gradient));
        }
        Ok(trained)
    }

    fn new_gradients(
        &self,
        x: &Tensor<T>,
        sums: Option<&Tensor<T>>,
        g: &Tensor<T>,
    ) -> Result<(Tensor<T>, LinearGradients)> {
        let gpu = self.weight.gpu();
        let mut gradients = LinearGradients {
            weight: gpu.empty(self.weight.shape())?,
            bias: self.bias.as_ref().map(|bias| gpu.empty(bias.shape())).transpose()?,
        };
        let of_x = self.gradients(x, sums, g, &mut gradients, 0.0)?;
        Ok((of_x, gradients))
    }

    /// The sums before the activation, if there is one.
    fn sums_for_slope(&self, x: &Tensor<T>, g: &Tensor<T>) -> Result<Option<Tensor<T>>> {
        self.check_output(x, g)?;
        (self.activation != Activation::None).then(|| self.sums(x)).transpose()
    }

    /// Checks that a tensor has the shape of the output for `x`, and is on its device.
    fn check_output(&self, x: &Tensor<T>, output: &Tensor<T>) -> Result<()> {
        check_inputs(x, &self.weight)?;
        self.weight.same_gpu(OP, x)?;
        x.same_gpu(OP, output)?;
        let last = x.shape().len() - 1;
        if output.shape().split_last() == Some((&self.weight.shape()[0], &x.shape()[..last])) {
            return Ok(());
        }
        let rule = "the gradient and the sums must have the shape of the output: that of x, with the layer's outputs last";
        Err(Error::shapes(OP, rule, output.shape(), x.shape()))
    }

    /// Writes the gradients of the parameters plus `beta` times the old ones, and returns the gradient of `x`.
    fn gradients(
        &self,
        x: &Tensor<T>,
        sums: Option<&Tensor<T>>,
        g: &Tensor<T>,
        gradients: &mut LinearGradients,
        beta: f32,
    ) -> Result<Tensor<T>> {
        self.check_output(x, g)?;
        let h = match sums {
            Some(sums) if self.activation != Activation::None => {
                ops::activate_backward(sums, g, self.activation)?.as_matrix()?
            }
            _ => g.as_matrix()?,
        };
        let rows = x.as_matrix()?;
        let of_x = Gemm::new(&h, &self.weight).out::<T>().run()?.reshape(x.shape())?;
        let added = |a: &Tensor<T>, b: &Tensor<T>, c: &mut Tensor<f32>| {
            Gemm::new(a, b).out::<f32>().precision(Precision::Strict).beta(beta).run_into(c)
        };
        added(&h.t(), &rows, &mut gradients.weight)?;
        if let Some(bias) = &mut gradients.bias {
            // A row of ones is a view of a single number with stride 0.
            let ones = self.weight.gpu().constant_tensor(T::from_f64(1.0))?;
            let ones = ones.as_strided(&[1, h.shape()[0]], &[0, 0], 0)?;
            let row = bias.layout().reshape(&[1, h.shape()[1]])?;
            bias.write_part(row, |bias| added(&ones, &h, bias))?;
        }
        Ok(of_x)
    }

    fn check_gradients(&self, gradients: &LinearGradients) -> Result<()> {
        let rule = "the gradients must have the shapes of this layer's parameters";
        let shape = |bias: Option<&[usize]>| bias.unwrap_or_default().to_vec();
        let own = shape(self.bias.as_ref().map(Tensor::shape));
        let found = shape(gradients.bias.as_ref().map(Tensor::shape));
        if gradients.weight.shape() != self.weight.shape() {
            return Err(Error::shapes(OP, rule, gradients.weight.shape(), self.weight.shape()));
        }
        if found != own { Err(Error::shapes(OP, rule, &found, &own)) } else { Ok(()) }
    }
}
