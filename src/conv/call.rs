//! Convolutions of tensors.

use super::options::{ConvOptions, Padding};
use super::problem::{ConvLayouts, ConvProblem, OP, check_epilogue, name};
use crate::Result;
use crate::conv::ConvGeometry;
use crate::error::call;
use crate::gpu::{Gpu, View, check_same_gpu};
use crate::layout::Real;
use crate::ops::Activation;
use crate::plan::Plan;
use crate::tensor::Tensor;

/// Convolution of images, stored channels last, as networks define it (a cross-correlation):
/// $$y_{npqo} = b_{o} + \sum_{r, s, c} x_{n,\\,p s_{1} + r d_{1} - t,\\,q s_{2} + s d_{2} - l,\\,c}\\,w_{orsc}$$
/// with the strides $s_{1}$ and $s_{2}$, the dilations $d_{1}$ and $d_{2}$ and the padding $t$ above and $l$ to the left of the images, which is
/// 0. It is computed in f32 and rounded once, to `T`. [`Convolution`] has more options.
///
/// # Shapes
/// `x` (batch, height, width, channels), `weight` (outputs, height, width, channels / groups), `bias` (outputs) -> (batch, height,
/// width, outputs), with $\lfloor (h + t + u - d_{1} (k - 1) - 1) / s_{1} \rfloor + 1$ rows for $h$ rows, a kernel of $k$ rows and the
/// padding $u$ below. Views of any strides are read in place: images stored channels first are `x.permute(&[0, 2, 3, 1])`, and so is a
/// weight of `PyTorch`. If a kernel has as many rows and columns as channels, as $3 \times 3$ of three, a weight stored channels first
/// has the same shape, so that no error says that it was not permuted. A window in the padding sums to 0. An empty batch, or no
/// outputs, give an empty result.
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) if an operand does not have four axes, groups do not divide the channels, the operands
/// have different channels, images or kernels are empty, the kernel is larger than the padded images, or the bias has another
/// length; [`Error::Input`](crate::Error::Input) for a stride, dilation or number of groups of 0;
/// [`Error::Gpu`](crate::Error::Gpu) if operands are on different devices; [`Error::Limit`](crate::Error::Limit) if a padded extent is
/// $2^{30}$ or more, or an image or the weight exceeds the device's binding size; [`Error::OutOfMemory`](crate::Error::OutOfMemory)
/// if the result does not fit.
/// # Precision
/// [`reference::ConvReference`](crate::reference::ConvReference). The padding is zeros: times a weight that is not finite, they may be NaN.
/// # Launches
/// One; two if there are few windows and many channels, whose sums are split among workgroups, stored in f32 for each split, and added by
/// a second launch; one for each window of images if the images or the result exceed the device's binding size. A residual whose pixels
/// are not at equal distances, such as one that is stored channels first and permuted, and groups of fewer than eight channels or outputs
/// take a kernel that reads memory for each element, and no matrix units.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::conv::{ConvOptions, Padding, conv2d};
///
/// let x = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [1, 2, 3, 1])?;
/// let edges = gpu.tensor(&[-1.0f32, 0.0, 1.0], [1, 1, 3, 1])?; // one row of three columns
/// let y = conv2d(&x, &edges, None, &ConvOptions::new().padding(Padding::Explicit([[0, 0], [1, 1]])))?;
/// assert_eq!(y.to_vec()?, [2.0, 2.0, -2.0, 5.0, 2.0, -5.0]);
/// # Ok(())
/// # }
/// ```
pub fn conv2d<T: Real>(
    x: &Tensor<T>,
    weight: &Tensor<T>,
    bias: Option<&Tensor<T>>,
    options: &ConvOptions,
) -> Result<Tensor<T>> {
    call(OP, || {
        let convolution = Convolution::new(x, weight).options(*options);
        bias.map_or(convolution, |bias| convolution.bias(bias)).run()
    })
}

/// Convolution of volumes, stored channels last: [`conv2d`] with three axes, depth, height and width.
///
/// # Shapes
/// `x` (batch, depth, height, width, channels), `weight` (outputs, depth, height, width, channels / groups), `bias` (outputs) -> (batch,
/// depth, height, width, outputs), with as many planes as [`conv2d`] has rows. Views of any strides are read in place: volumes stored
/// channels first are `x.permute(&[0, 2, 3, 4, 1])`.
/// # Errors
/// As [`conv2d`], with operands of five axes; [`Error::Limit`](crate::Error::Limit) also if a window has more than $2^{21}$ elements
/// or $2^{20}$ rows of taps, and for a stride or dilation along the depth of $2^{15}$ or more.
/// # Precision
/// As [`conv2d`].
/// # Launches
/// As [`conv2d`]; one more for a residual whose pixels are not at equal distances, which is copied. All convolutions are matrix products, those of small groups too, of
/// which a block uses as many columns as a group has outputs; but for volumes of one plane, which are images.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::conv::{ConvOptions, Padding, conv3d};
///
/// let x = gpu.tensor(&[1.0f32, 2.0, 4.0], [1, 3, 1, 1, 1])?; // three planes of one pixel
/// let sums = gpu.full([1, 2, 1, 1, 1], 1.0f32)?;
/// let causal = ConvOptions::new().padding(Padding::Explicit([[1, 0], [0, 0], [0, 0]])); // one plane of zeros in front
/// assert_eq!(conv3d(&x, &sums, None, &causal)?.to_vec()?, [1.0, 3.0, 6.0]);
/// # Ok(())
/// # }
/// ```
pub fn conv3d<T: Real>(
    x: &Tensor<T>,
    weight: &Tensor<T>,
    bias: Option<&Tensor<T>>,
    options: &ConvOptions<3>,
) -> Result<Tensor<T>> {
    call(name(3), || {
        let convolution = Convolution::of_volumes(x, weight).options(*options);
        bias.map_or(convolution, |bias| convolution.bias(bias)).run()
    })
}

/// A convolution with an epilogue, in the launches of [`conv2d`] or [`conv3d`]: activation($(x \ast w + b)\\,a + t$) + $r$ with a bias $b$, a scale $a$ and a shift
/// $t$ for each output channel, and a residual $r$. Set the options, then call [`run`](Self::run). [`conv2d`] and [`conv3d`] are the plain functions.
///
/// # Shapes
/// As [`conv2d`].
/// # Errors
/// Setting an option never fails: `plan` and `run` report all errors. [`Error::Unsupported`](crate::Error::Unsupported) on a device of
/// four storage bindings for a batch norm, or a bias and a residual, of a convolution that is no matrix product, such as a depthwise one.
/// # Precision
/// As [`conv2d`]; the epilogue is computed in f32, and the result is rounded once:
/// [`reference::ConvEpilogueReference`](crate::reference::ConvEpilogueReference).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::conv::{Convolution, Padding, SamePadding};
/// use tilewise::{Activation, Fill};
///
/// let x = gpu.random::<f32>([2, 8, 8, 16], Fill::Uniform, 1)?;
/// let weight = gpu.random::<f32>([16, 3, 3, 16], Fill::Uniform, 2)?;
/// let (scale, shift) = (gpu.full([16], 0.5f32)?, gpu.full([16], 0.1f32)?); // a batch norm in evaluation
/// let launches = gpu.stats().launches;
/// let y = Convolution::new(&x, &weight)
///     .padding(Padding::Same(SamePadding::ExtraAtEnd))
///     .scale_shift(&scale, &shift)
///     .activation(Activation::Silu)
///     .residual(&x)
///     .run()?;
/// assert_eq!((y.shape(), gpu.stats().launches - launches), (x.shape(), 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "a convolution is computed by `run`"]
pub struct Convolution<'a, T: Real, const D: usize = 2> {
    x: &'a Tensor<T>,
    weight: &'a Tensor<T>,
    options: ConvOptions<D>,
    bias: Option<View<'a>>,
    scale_shift: Option<[&'a Tensor<f32>; 2]>,
    residual: Option<&'a Tensor<T>>,
    activation: Activation,
}

impl<'a, T: Real> Convolution<'a, T> {
    /// The convolution of `x` (batch, height, width, channels) with `weight` (outputs, height, width, channels / groups).
    pub fn new(x: &'a Tensor<T>, weight: &'a Tensor<T>) -> Self {
        Self::of(x, weight)
    }
}

impl<'a, T: Real> Convolution<'a, T, 3> {
    /// The convolution of volumes `x` (batch, depth, height, width, channels) with `weight` (outputs, depth, height, width, channels /
    /// groups).
    pub fn of_volumes(x: &'a Tensor<T>, weight: &'a Tensor<T>) -> Self {
        Self::of(x, weight)
    }
}

impl<'a, T: Real, const D: usize> Convolution<'a, T, D> {
    fn of(x: &'a Tensor<T>, weight: &'a Tensor<T>) -> Self {
        let (bias, scale_shift, residual) = (None, None, None);
        let options = ConvOptions::new();
        Self { x, weight, options, bias, scale_shift, residual, activation: Activation::None }
    }

    /// Sets stride, dilation, padding and groups.
    pub fn options(self, options: ConvOptions<D>) -> Self {
        Self { options, ..self }
    }

    /// Moves the kernel by this number of rows and columns; in volumes, of planes, rows and columns.
    pub fn stride(self, stride: [usize; D]) -> Self {
        Self { options: self.options.stride(stride), ..self }
    }

    /// Sets the distance of neighbouring rows and columns of the kernel; for volumes, of planes, rows and columns.
    pub fn dilation(self, dilation: [usize; D]) -> Self {
        Self { options: self.options.dilation(dilation), ..self }
    }

    /// Surrounds the images with zeros.
    pub fn padding(self, padding: Padding<D>) -> Self {
        Self { options: self.options.padding(padding), ..self }
    }

    /// Splits the channels into this number of groups.
    pub fn groups(self, groups: usize) -> Self {
        Self { options: self.options.groups(groups), ..self }
    }

    /// Adds a bias (outputs) to the sums.
    pub fn bias<R: Real>(self, bias: &'a Tensor<R>) -> Self {
        Self { bias: Some(bias.view()), ..self }
    }

    /// Multiplies each output channel by a scale (outputs), then adds a shift (outputs): a batch norm in evaluation, folded. A bias is
    /// added before that.
    pub fn scale_shift(self, scale: &'a Tensor<f32>, shift: &'a Tensor<f32>) -> Self {
        Self { scale_shift: Some([scale, shift]), ..self }
    }

    /// Applies an activation to every element.
    pub fn activation(self, activation: Activation) -> Self {
        Self { activation, ..self }
    }

    /// Adds a tensor of the shape of the result, after the activation.
    pub fn residual(self, residual: &'a Tensor<T>) -> Self {
        Self { residual: Some(residual), ..self }
    }

    /// The plan of the convolution on this device.
    ///
    /// # Errors
    /// As [`conv2d`]; [`Error::Shape`](crate::Error::Shape) if the scale, the shift or the residual has another shape, or the
    /// result is empty.
    pub fn plan(&self) -> Result<Plan> {
        call(name(D), || self.gpu()?.explained(&self.problem()?))
    }

    /// The checked problem, as plain data.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), except for the device's limits.
    pub fn problem(&self) -> Result<ConvProblem> {
        ConvProblem::new(self.layouts(), &self.options, self.activation, T::DTYPE)
    }

    fn layouts(&self) -> ConvLayouts<'_> {
        ConvLayouts {
            x: self.x.layout(),
            weight: self.weight.layout(),
            bias: self.bias.as_ref().map(|bias| (&bias.layout, bias.dtype)),
            scale_shift: self.scale_shift.map(|both| both.map(Tensor::layout)),
            residual: self.residual.map(Tensor::layout),
        }
    }

    /// Computes the convolution and returns it as a new tensor.
    ///
    /// # Errors
    /// As [`conv2d`]; [`Error::Shape`](crate::Error::Shape) if the scale, the shift or the residual has another shape.
    pub fn run(&self) -> Result<Tensor<T>> {
        let op = name(D);
        call(op, || {
            let gpu = self.gpu()?;
            let geometry = ConvGeometry::new(op, self.x.layout(), self.weight.layout(), &self.options)?;
            let shape = geometry.result_shape();
            if geometry.has_no_result() {
                check_epilogue(op, &geometry, &self.layouts())?;
                return gpu.empty(shape);
            }
            let inputs: Vec<_> = self.inputs().collect();
            Tensor::computed(gpu, &self.problem()?, &inputs, &[], shape)
        })
    }

    /// The operands in the order of the plan.
    fn inputs(&self) -> impl Iterator<Item = View<'a>> {
        let scale_shift = self.scale_shift.into_iter().flatten().map(Tensor::view);
        let others = self.bias.into_iter().chain(scale_shift).chain(self.residual.map(Tensor::view));
        [self.x.view(), self.weight.view()].into_iter().chain(others)
    }

    /// The device of all operands.
    fn gpu(&self) -> Result<&'a Gpu> {
        let gpu = self.x.gpu();
        self.inputs().try_for_each(|operand| check_same_gpu(name(D), gpu, operand.gpu()))?;
        Ok(gpu)
    }
}
