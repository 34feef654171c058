//! The backward pass of linear layers.

use super::builder::Gemm;
use super::linear::{Linear, OP, check_inputs};
use crate::error::call;
use crate::gemm::problem::Pin;
use crate::layout::{Layout, Real};
use crate::ops::training::{Gradients, Parameters, check_gradients};
use crate::ops::{self, Activation};
use crate::tensor::Tensor;
use crate::{Error, Precision, Result};

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
/// those of the parameters, `weight` and `bias` in f32, added over all leading axes.
/// # Errors
/// As [`linear`](super::linear()); [`Error::Shape`] if `g` does not have the output's shape.
/// # Precision
/// Products sum in f32. h is rounded to `T`, and so is the gradient of x; the gradients of parameters are not:
/// [`reference::LinearReference`](crate::reference::LinearReference).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::{Activation, Fill, linear, ops};
/// use tilewise::gemm::linear_backward;
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
///     let of = |gradients: &tilewise::Gradients, name| gradients.get(name).expect("it is there").clone();
///     ops::sub_assign(&mut w2, &of(&of_second, "weight"))?; // the rate is 1
///     ops::sub_assign(&mut w1, &of(&of_first, "weight"))?;
///     ops::sub_assign(&mut b1, &of(&of_first, "bias"))?;
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
) -> Result<(Tensor<T>, Gradients)> {
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
    pub fn backward(&self, x: &Tensor<T>, g: &Tensor<T>) -> Result<(Tensor<T>, Gradients)> {
        call("Linear::backward", || {
            let sums = self.sums_for_slope(x, g)?;
            Gradients::of(|to| self.gradients(x, sums.as_ref(), g, to))
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
    ) -> Result<(Tensor<T>, Gradients)> {
        call("Linear::backward_from", || {
            self.check_output(x, sums)?;
            Gradients::of(|to| self.gradients(x, Some(sums), g, to))
        })
    }

    /// As [`backward`](Self::backward), but adds the gradients of the parameters to `gradients`, so that several parts of a
    /// batch make one step.
    ///
    /// # Shapes
    /// As [`linear_backward`].
    /// # Errors
    /// As [`linear_backward`], and as [`Parameters::pairs`](crate::Parameters::pairs) and [`Gradients::add`] for `gradients`.
    /// # Precision
    /// As [`linear_backward`].
    pub fn backward_into(
        &self,
        x: &Tensor<T>,
        g: &Tensor<T>,
        gradients: &mut Gradients,
    ) -> Result<Tensor<T>> {
        call("Linear::backward_into", || {
            check_gradients(OP, gradients, &self.parameters())?;
            let sums = self.sums_for_slope(x, g)?;
            self.gradients(x, sums.as_ref(), g, gradients)
        })
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

    /// Adds the gradients of the parameters, and returns the gradient of `x`.
    fn gradients(
        &self,
        x: &Tensor<T>,
        sums: Option<&Tensor<T>>,
        g: &Tensor<T>,
        gradients: &mut Gradients,
    ) -> Result<Tensor<T>> {
        self.check_output(x, g)?;
        let h = match sums {
            Some(sums) if self.activation != Activation::None => {
                ops::activate_backward(sums, g, self.activation)?.as_matrix()?
            }
            _ => g.as_matrix()?,
        };
        let (rows, gpu) = (x.as_matrix()?, self.weight.gpu());
        let of_x = Gemm::new(&h, &self.weight).out::<T>().run()?.reshape(x.shape())?;
        let shape = Layout::contiguous(OP, self.weight.shape())?;
        gradients
            .add_with(gpu, "weight", shape, |to, beta| add_product(&h.t(), &rows, Pin::Free, to, beta))?;
        if self.bias.is_some() {
            add_sum_of_rows(&h, Pin::Free, gradients, "bias")?;
        }
        Ok(of_x)
    }
}

/// Writes `a b` plus `beta` times the old values.
fn add_product<T: Real>(
    a: &Tensor<T>,
    b: &Tensor<T>,
    pin: Pin,
    to: &mut Tensor<f32>,
    beta: f32,
) -> Result<()> {
    Gemm::new(a, b).out::<f32>().pinned(pin).precision(Precision::Strict).beta(beta).run_into(to)
}

/// Adds the sum of the rows of a matrix to a gradient, as a product with a row of ones: a view of one number.
pub(crate) fn add_sum_of_rows<T: Real>(
    rows: &Tensor<T>,
    pin: Pin,
    gradients: &mut Gradients,
    name: &str,
) -> Result<()> {
    let (count, length) = (rows.shape()[0], rows.shape()[1]);
    let ones = rows.gpu().constant_tensor(T::from_f64(1.0))?.as_strided(&[1, count], &[0, 0], 0)?;
    gradients.add_with(rows.gpu(), name, Layout::line(length), |to, beta| {
        let row = to.layout().reshape(&[1, length])?;
        to.write_part(row, |to| add_product(&ones, rows, pin, to, beta))
    })
}
