//! The gradients of a convolution of tensors.

use super::problem::{ConvBackward, ConvGradientOf};
use crate::conv::geometry::ConvGeometry;
use crate::conv::options::ConvOptions;
use crate::error::call;
use crate::gemm::{Pin, add_sum_of_rows};
use crate::layout::{Layout, Real};
use crate::ops::training::Gradients;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// The backward pass of [`conv2d`](crate::conv::conv2d) (vector-Jacobian product): the gradients of a loss with respect to `x`, the
/// weight and the bias, from its gradient `grad` with respect to the result.
///
/// The gradient of `x` sums over the taps that read a pixel; with strides, others are not visited. Rows and columns that no window
/// reads have the gradient 0.
///
/// # Shapes
/// `x`, `weight` and `bias` as in [`conv2d`](crate::conv::conv2d), `grad` (batch, height, width, outputs), any strides -> the gradient
/// of `x`, in its shape, and those of the parameters, `weight` and `bias` in f32, added over all pixels.
/// # Errors
/// As [`conv2d`](crate::conv::conv2d); [`Error::Shape`] if `grad` does not have the result's shape.
/// # Precision
/// Computed in f32 in a fixed order, so that equal calls give equal bits:
/// [`reference::ConvReference`](crate::reference::ConvReference). The gradient of `x` is rounded once, to `T`; those of parameters
/// are not. A product multiplies the zeros around `grad` too, so where the weight is not finite, more pixels of the gradient of `x` at
/// the edges may be NaN than by the definition.
/// # Launches
/// One for the gradient of `x`, or with strides of at most 4 one for each phase of pixels that the same taps read; two if sums are split
/// among workgroups, and one more before them if no tap reads some of the pixels. One or two for that of the weight, and a product with
/// ones for that of the bias, which copies `grad` first if its pixels are not at equal distances. With groups of fewer than eight channels
/// or outputs, with larger strides, or with strides and groups and a height that is no multiple of the stride, kernels use no matrix units.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::conv::{ConvOptions, conv2d_backward};
///
/// let x = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [1, 1, 4, 1])?;
/// let weight = gpu.tensor(&[10.0f32, 1.0], [1, 1, 2, 1])?; // two columns, three windows
/// let grad = gpu.tensor(&[1.0f32, 0.0, 1.0], [1, 1, 3, 1])?;
/// let (of_x, gradients) = conv2d_backward(&x, &weight, None, &ConvOptions::new(), &grad)?;
/// assert_eq!(of_x.to_vec()?, [10.0, 1.0, 10.0, 1.0]);
/// assert_eq!(gradients.get("weight").expect("it has a weight").to_vec()?, [4.0, 6.0]);
/// # Ok(())
/// # }
/// ```
pub fn conv2d_backward<T: Real>(
    x: &Tensor<T>,
    weight: &Tensor<T>,
    bias: Option<&Tensor<T>>,
    options: &ConvOptions,
    grad: &Tensor<T>,
) -> Result<(Tensor<T>, Gradients)> {
    const OP: &str = "conv2d_backward";
    call(OP, || {
        let geometry = checked(OP, [x, weight, grad], bias, options)?;
        prepare_parameters(OP, &geometry, x, grad.layout())?;
        let of_x = input_gradient(OP, &geometry, weight, grad, None)?;
        let gradients = parameters(OP, &geometry, x, grad, bias.map(|_| grad))?;
        Ok((of_x, gradients))
    })
}

/// The backward pass of [`conv3d`](crate::conv::conv3d) (vector-Jacobian product), as [`conv2d_backward`] is that of
/// [`conv2d`](crate::conv::conv2d).
///
/// # Shapes
/// `x`, `weight` and `bias` as in [`conv3d`](crate::conv::conv3d), `grad` (batch, depth, height, width, outputs), any strides -> the
/// gradient of `x`, in its shape, and those of the parameters, `weight` and `bias` in f32, added over all pixels.
/// # Errors
/// As [`conv3d`](crate::conv::conv3d); [`Error::Shape`] if `grad` does not have the result's shape; [`Error::Limit`] if the result of one
/// volume has more than $2^{24}$ pixels.
/// # Precision
/// As [`conv2d_backward`].
/// # Launches
/// For the gradient of `x` one for each phase of pixels that the same taps read, at most as many as the product of the strides; two if
/// sums are split among workgroups, and one more before them if no tap reads some of the pixels. With strides that do not divide the volume,
/// or with strides and groups, one for each phase and volume, or each phase and plane or group of a volume. One or two for that of the
/// weight, and a product with ones for that of the bias; one before them to copy `grad` if its pixels are not at equal distances.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::conv::{ConvOptions, conv3d_backward};
///
/// let x = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [1, 4, 1, 1, 1])?; // four planes
/// let weight = gpu.tensor(&[10.0f32, 1.0], [1, 2, 1, 1, 1])?;
/// let grad = gpu.tensor(&[1.0f32, 0.0, 1.0], [1, 3, 1, 1, 1])?;
/// let (of_x, gradients) = conv3d_backward(&x, &weight, None, &ConvOptions::new(), &grad)?;
/// assert_eq!(of_x.to_vec()?, [10.0, 1.0, 10.0, 1.0]);
/// assert_eq!(gradients.get("weight").expect("it has a weight").to_vec()?, [4.0, 6.0]);
/// # Ok(())
/// # }
/// ```
pub fn conv3d_backward<T: Real>(
    x: &Tensor<T>,
    weight: &Tensor<T>,
    bias: Option<&Tensor<T>>,
    options: &ConvOptions<3>,
    grad: &Tensor<T>,
) -> Result<(Tensor<T>, Gradients)> {
    const OP: &str = "conv3d_backward";
    call(OP, || {
        let geometry = checked(OP, [x, weight, grad], bias, options)?;
        let has_lines = grad.layout().joined(0..4).is_some();
        let lines = if has_lines { *grad.layout() } else { Layout::contiguous(OP, grad.shape())? };
        prepare_parameters(OP, &geometry, x, &lines)?;
        let grad = &if has_lines { grad.clone() } else { grad.contiguous()? };
        let of_x = input_gradient(OP, &geometry, weight, grad, None)?;
        let gradients = parameters(OP, &geometry, x, grad, bias.map(|_| grad))?;
        Ok((of_x, gradients))
    })
}

/// The convolution, if its operands and the gradient of its result fit.
fn checked<T: Real, const D: usize>(
    op: &'static str,
    [x, weight, grad]: [&Tensor<T>; 3],
    bias: Option<&Tensor<T>>,
    options: &ConvOptions<D>,
) -> Result<ConvGeometry<D>> {
    let geometry = ConvGeometry::new(op, x.layout(), weight.layout(), options)?;
    x.same_gpu(op, weight)?;
    x.same_gpu(op, grad)?;
    check_grad(op, grad, &geometry.result_shape())?;
    if let Some(bias) = bias {
        x.same_gpu(op, bias)?;
        check_bias(op, bias, geometry.outputs)?;
    }
    Ok(geometry)
}

pub(super) fn check_grad<T: Real>(op: &'static str, grad: &Tensor<T>, shape: &[usize]) -> Result<()> {
    if grad.shape() == shape {
        return Ok(());
    }
    Err(Error::shapes(op, "the gradient must have the shape of the result", grad.shape(), shape))
}

pub(super) fn check_bias<T: Real>(op: &'static str, bias: &Tensor<T>, outputs: usize) -> Result<()> {
    if bias.shape() == [outputs] {
        return Ok(());
    }
    let rule = "the bias must have an element for each output channel";
    Err(Error::shapes(op, rule, bias.shape(), &[outputs]))
}

/// The gradient of the images, plus a bias. Its operands were checked.
pub(super) fn input_gradient<T: Real, const D: usize>(
    op: &'static str,
    geometry: &ConvGeometry<D>,
    weight: &Tensor<T>,
    grad: &Tensor<T>,
    bias: Option<&Tensor<T>>,
) -> Result<Tensor<T>> {
    let (gpu, shape) = (grad.gpu(), geometry.image_shape());
    if grad.is_empty() || shape.contains(&0) {
        return gpu.zeros(shape);
    }
    let of = ConvGradientOf::Input;
    let problem = ConvBackward::new(op, geometry, of, [weight.layout(), grad.layout()], T::DTYPE)?;
    let problem = bias.map_or(Ok(problem), |bias| problem.bias(bias.layout()))?;
    let operands = [grad, weight].into_iter().chain(bias);
    let inputs: Vec<_> = operands.map(Tensor::view).collect();
    Tensor::computed(gpu, &problem, &inputs, &[], shape)
}

/// The gradient of the weight as a problem. None if it is zeros, because there are no images.
fn of_weight<T: Real, const D: usize>(
    op: &'static str,
    geometry: &ConvGeometry<D>,
    x: &Tensor<T>,
    grad: &Layout,
) -> Result<Option<ConvBackward>> {
    if grad.is_empty() || x.is_empty() {
        return Ok(None);
    }
    let of = ConvGradientOf::Weight;
    ConvBackward::new(op, geometry, of, [x.layout(), grad], T::DTYPE).map(Some)
}

/// Prepares the gradient of the weight that [`parameters`] computes, before anything is recorded.
pub(super) fn prepare_parameters<T: Real, const D: usize>(
    op: &'static str,
    geometry: &ConvGeometry<D>,
    x: &Tensor<T>,
    grad: &Layout,
) -> Result<()> {
    let problem = of_weight(op, geometry, x, grad)?;
    problem.map_or(Ok(()), |problem| x.gpu().prepare_problem(&problem))
}

/// The gradients of the weight and, of a convolution with a bias, of `with_bias`: the gradient whose rows are summed for it. The
/// operands were checked.
pub(super) fn parameters<T: Real, const D: usize>(
    op: &'static str,
    geometry: &ConvGeometry<D>,
    x: &Tensor<T>,
    grad: &Tensor<T>,
    with_bias: Option<&Tensor<T>>,
) -> Result<Gradients> {
    let (gpu, shape) = (grad.gpu(), geometry.kernel_shape());
    let mut gradients = Gradients::new();
    let of_weight = match of_weight(op, geometry, x, grad.layout())? {
        None => gpu.zeros(shape)?,
        Some(problem) => {
            let [made] = gpu.compute(&problem, &[grad.view(), x.view()], &[])?;
            Tensor::from_output(made, shape)?
        }
    };
    gradients.add("weight", of_weight)?;
    if let Some(rows) = with_bias {
        add_sum_of_rows(&rows.as_matrix()?, Pin::Free, &mut gradients, "bias")?;
    }
    Ok(gradients)
}
