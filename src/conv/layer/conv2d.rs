//! A convolution with its weight and bias.

use super::weights::ConvWeights;
use crate::conv::{ConvOptions, Convolution, conv2d_backward};
use crate::error::{Named, call};
use crate::layout::Real;
use crate::ops::training::{Gradients, ParameterMut, Parameters, check_gradients};
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result};

/// The name of the layer in errors.
pub(super) const OP: &str = "Conv2d";

/// A convolution of images with channels last, as `torch.nn.Conv2d`: a weight (outputs, height, width, channels / groups), an optional
/// bias (outputs), and options. Files hold the weight as `PyTorch` does, (outputs, channels / groups, height, width).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::conv::{Conv2d, ConvOptions, Padding};
/// use tilewise::{Activation, Fill, Parameters, ops};
///
/// let options = ConvOptions::new().padding(Padding::Explicit([[1, 1], [1, 1]]));
/// let mut layer = Conv2d::random(&gpu, [3, 8], [3, 3], options, 1)?; // 3 channels to 8
/// let x = gpu.random::<f32>([2, 6, 6, 3], Fill::Normal, 2)?;
/// let target = gpu.random::<f32>([2, 6, 6, 8], Fill::Normal, 3)?;
/// let mut losses = Vec::new();
/// for _ in 0..10 {
///     let (loss, grad) = ops::mse_and_gradient(&layer.forward(&x)?, &target, ops::Reduction::Mean, 1.0)?;
///     let (_, gradients) = layer.backward(&x, &grad)?;
///     layer.descend(&gradients, 1.0)?;
///     losses.push(loss.to_vec()?[0]);
/// }
/// assert!(losses[9] < losses[0], "{losses:?}");
/// let y = layer.convolution(&x).activation(Activation::Silu).run()?; // in the same launch
/// assert_eq!(y.shape(), [2, 6, 6, 8]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Conv2d<T: Real> {
    pub(super) weights: ConvWeights<T>,
    options: ConvOptions,
}

impl<T: Real> Conv2d<T> {
    /// A layer with these parameters. It shares them and copies nothing.
    ///
    /// # Shapes
    /// `weight` (outputs, height, width, channels / groups), `bias` (outputs). A weight of `PyTorch` is `weight.permute(&[0, 2, 3, 1])`.
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if the weight does not have four axes, or the bias has another length;
    /// [`Error::Gpu`](crate::Error::Gpu) if they are on different devices.
    pub fn new(weight: Tensor<T>, bias: Option<Tensor<T>>, options: ConvOptions) -> Result<Self> {
        call("Conv2d::new", || Self::of(weight, bias, options))
    }

    pub(super) fn of(weight: Tensor<T>, bias: Option<Tensor<T>>, options: ConvOptions) -> Result<Self> {
        let axes = "the weight must have the axes (outputs, height, width, channels / groups)";
        let weights = ConvWeights::new(OP, (weight, axes), bias, |[outputs, ..]| outputs)?;
        Ok(Self { weights, options })
    }

    /// A layer to train from scratch, with the initial parameters of `PyTorch`: weight and bias are uniform in $\pm 1 / \sqrt{n}$, where an
    /// output sums $n$ products. The same seed gives the same weights on every device.
    ///
    /// # Shapes
    /// `features` are the channels of the images and of the result; `kernel` has rows and columns.
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if a number is 0, or groups do not divide the features;
    /// [`Error::Input`](crate::Error::Input) for 0 groups; [`Error::OutOfMemory`](crate::Error::OutOfMemory) or
    /// [`Error::Limit`](crate::Error::Limit) if the parameters do not fit.
    pub fn random(
        gpu: &Gpu,
        features: [usize; 2],
        kernel: [usize; 2],
        options: ConvOptions,
        seed: u64,
    ) -> Result<Self> {
        call("Conv2d::random", || {
            let ([channels, outputs], [height, width]) = (features, kernel);
            let shape = [outputs, height, width, channels / groups(OP, features, &options)?];
            Ok(Self { weights: ConvWeights::random(OP, gpu, shape, outputs, seed)?, options })
        })
    }

    /// The same layer without a bias, as before a batch norm.
    #[must_use]
    pub fn without_bias(mut self) -> Self {
        self.weights.bias = None;
        self
    }

    /// The layer with its parameters in another type.
    ///
    /// # Errors
    /// As [`Tensor::cast`].
    /// # Precision
    /// As [`Tensor::cast`].
    pub fn cast<P: Real>(&self) -> Result<Conv2d<P>> {
        call("Conv2d::cast", || Ok(Conv2d { weights: self.weights.cast()?, options: self.options }))
    }

    /// The layer's result, as [`conv2d`](crate::conv::conv2d).
    ///
    /// # Shapes
    /// `x` (batch, height, width, channels) -> (batch, height, width, outputs).
    /// # Errors
    /// As [`conv2d`](crate::conv::conv2d).
    /// # Precision
    /// As [`conv2d`](crate::conv::conv2d).
    pub fn forward(&self, x: &Tensor<T>) -> Result<Tensor<T>> {
        self.convolution(x).run().named("Conv2d::forward")
    }

    /// The layer's convolution, to give it an activation or a residual, or to see its plan.
    pub fn convolution<'a>(&'a self, x: &'a Tensor<T>) -> Convolution<'a, T> {
        let convolution = Convolution::new(x, self.weight()).options(self.options);
        self.bias().map_or(convolution, |bias| convolution.bias(bias))
    }

    /// The backward pass (vector-Jacobian product), as [`conv2d_backward`].
    ///
    /// # Shapes
    /// As [`conv2d_backward`]: `weight` and `bias` in f32, in the shapes of the parameters.
    /// # Errors
    /// As [`conv2d_backward`].
    /// # Precision
    /// As [`conv2d_backward`].
    pub fn backward(&self, x: &Tensor<T>, grad: &Tensor<T>) -> Result<(Tensor<T>, Gradients)> {
        call("Conv2d::backward", || conv2d_backward(x, self.weight(), self.bias(), &self.options, grad))
    }

    /// As [`backward`](Self::backward), but adds the gradients of the parameters to `gradients`, so that several parts of a batch make
    /// one step.
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
        call("Conv2d::backward_into", || {
            check_gradients(OP, gradients, &self.parameters())?;
            let (of_x, own) = self.backward(x, grad)?;
            gradients.accumulate(own)?;
            Ok(of_x)
        })
    }

    /// The weight (outputs, height, width, channels / groups).
    #[must_use]
    pub fn weight(&self) -> &Tensor<T> {
        &self.weights.weight
    }

    /// The bias (outputs), if there is one.
    #[must_use]
    pub fn bias(&self) -> Option<&Tensor<T>> {
        self.weights.bias.as_ref()
    }

    /// Stride, dilation, padding and groups.
    pub fn options(&self) -> &ConvOptions {
        &self.options
    }
}

impl<T: Real> Parameters<T> for Conv2d<T> {
    /// `weight` (outputs, height, width, channels / groups), and `bias` (outputs) if the layer has one.
    fn parameters(&self) -> Vec<(String, &Tensor<T>)> {
        self.weights.parameters()
    }

    fn parameters_mut(&mut self) -> Vec<(String, ParameterMut<'_, T>)> {
        self.weights.parameters_mut()
    }
}

/// The number of groups, if it divides the features of a layer.
pub(super) fn groups(op: &'static str, features: [usize; 2], options: &ConvOptions) -> Result<usize> {
    let groups = options.groups;
    if groups == 0 {
        return Err(Error::input(format!("{op}: the number of groups"), "it must be at least 1"));
    }
    if features.iter().any(|of| !of.is_multiple_of(groups)) {
        let rule = format!("{groups} groups must divide the channels of the input and of the result");
        return Err(Error::shape(op, rule, &features));
    }
    Ok(groups)
}
