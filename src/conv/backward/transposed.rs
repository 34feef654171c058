//! Transposed convolutions of tensors, and their gradients.

use super::call::{check_bias, check_grad, input_gradient, parameters, prepare_parameters};
use crate::Result;
use crate::conv::geometry::ConvGeometry;
use crate::conv::options::ConvOptions;
use crate::conv::problem::{ConvLayouts, ConvProblem};
use crate::error::call;
use crate::layout::Real;
use crate::ops::Activation;
use crate::ops::training::Gradients;
use crate::tensor::Tensor;

/// Transposed convolution: the gradient of the images of a [`conv2d`](crate::conv::conv2d) with this weight and these options, for `x`
/// as the gradient of its result; plus a bias. With a stride it enlarges images.
///
/// Several sizes of images give results of one size. `output_padding` chooses among them: it adds rows and columns at the end, fewer
/// than the stride or the dilation. With [`Padding::Same`](crate::conv::Padding::Same), height and width are those of `x` times the
/// stride.
///
/// # Shapes
/// `x` (batch, height, width, channels), `weight` (channels, height, width, outputs / groups), `bias` (outputs) -> (batch, height,
/// width, outputs), with $(h - 1) s - t - u + d (k - 1) + p + 1$ rows for $h$ rows, the stride $s$, the padding $t$ above and $u$ below,
/// the dilation $d$, a kernel of $k$ rows and the output padding $p$. Views of any strides are read in place: a weight of `PyTorch`,
/// (channels, outputs / groups, height, width), is `weight.permute(&[0, 2, 3, 1])`. Without that it is a kernel of other taps and outputs,
/// which is no error.
/// # Errors
/// As [`conv2d`](crate::conv::conv2d); [`Error::Shape`](crate::Error::Shape) if the padding leaves nothing of the result;
/// [`Error::Input`](crate::Error::Input) for too much output padding.
/// # Precision
/// [`reference::ConvReference::input_gradient`](crate::reference::ConvReference::input_gradient).
/// # Launches
/// One, or with strides of at most 4 one for each phase of pixels that the same taps reach; two if sums are split among workgroups, and one
/// more before them if no tap reaches some of the pixels; these for each window of images if the images or the result exceed the device's
/// binding size.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::conv::{ConvOptions, conv_transpose2d};
///
/// let x = gpu.tensor(&[1.0f32, 2.0], [1, 1, 2, 1])?;
/// let weight = gpu.tensor(&[1.0f32, 10.0], [1, 1, 2, 1])?;
/// let y = conv_transpose2d(&x, &weight, None, &ConvOptions::new().stride([1, 2]), [0, 1])?;
/// assert_eq!(y.to_vec()?, [1.0, 10.0, 2.0, 20.0, 0.0]);
/// # Ok(())
/// # }
/// ```
pub fn conv_transpose2d<T: Real>(
    x: &Tensor<T>,
    weight: &Tensor<T>,
    bias: Option<&Tensor<T>>,
    options: &ConvOptions,
    output_padding: [usize; 2],
) -> Result<Tensor<T>> {
    const OP: &str = "conv_transpose2d";
    call(OP, || {
        let geometry = checked(OP, [x, weight], bias, options, output_padding)?;
        input_gradient(OP, &geometry, weight, x, bias)
    })
}

/// The backward pass of [`conv_transpose2d`] (vector-Jacobian product): the gradients of a loss with respect to `x`, the weight and
/// the bias, from its gradient `grad` with respect to the result.
///
/// # Shapes
/// `x`, `weight` and `bias` as in [`conv_transpose2d`], `grad` (batch, height, width, outputs), any strides -> the gradient of `x`, in
/// its shape, and those of the parameters, `weight` and `bias` in f32, added over all pixels.
/// # Errors
/// As [`conv_transpose2d`]; [`Error::Shape`](crate::Error::Shape) if `grad` does not have the result's shape.
/// # Precision
/// As [`conv2d_backward`](super::conv2d_backward).
/// # Launches
/// As [`conv2d_backward`](super::conv2d_backward).
pub fn conv_transpose2d_backward<T: Real>(
    x: &Tensor<T>,
    weight: &Tensor<T>,
    bias: Option<&Tensor<T>>,
    options: &ConvOptions,
    output_padding: [usize; 2],
    grad: &Tensor<T>,
) -> Result<(Tensor<T>, Gradients)> {
    const OP: &str = "conv_transpose2d_backward";
    call(OP, || {
        let geometry = checked(OP, [x, weight], bias, options, output_padding)?;
        x.same_gpu(OP, grad)?;
        check_grad(OP, grad, &geometry.input_shape())?;
        prepare_parameters(OP, &geometry, grad, x.layout())?;
        // The convolution whose gradient the transposed one is.
        let of_x = if x.is_empty() {
            x.gpu().zeros(x.shape())?
        } else {
            let (bias, scale_shift, residual) = (None, None, None);
            let layouts =
                ConvLayouts { x: grad.layout(), weight: weight.layout(), bias, scale_shift, residual };
            let problem = ConvProblem::of(OP, geometry.volume(), &layouts, Activation::None, T::DTYPE)?;
            Tensor::computed(x.gpu(), &problem, &[grad.view(), weight.view()], &[], x.shape())?
        };
        let gradients = parameters(OP, &geometry, grad, x, bias.map(|_| grad))?;
        Ok((of_x, gradients))
    })
}

/// The convolution whose gradient the transposed one is, if the operands fit.
fn checked<T: Real>(
    op: &'static str,
    [x, weight]: [&Tensor<T>; 2],
    bias: Option<&Tensor<T>>,
    options: &ConvOptions,
    output_padding: [usize; 2],
) -> Result<ConvGeometry> {
    x.same_gpu(op, weight)?;
    let geometry = ConvGeometry::transposed(op, x.layout(), weight.layout(), options, output_padding)?;
    if let Some(bias) = bias {
        x.same_gpu(op, bias)?;
        check_bias(op, bias, geometry.channels)?;
    }
    Ok(geometry)
}
