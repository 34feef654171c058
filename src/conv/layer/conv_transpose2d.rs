//! A transposed convolution with its weight and bias.

use super::conv2d::groups;
use super::weights::ConvWeights;
use crate::conv::{ConvOptions, conv_transpose2d, conv_transpose2d_backward};
use crate::error::{Named, call};
use crate::layout::Real;
use crate::ops::training::{Gradients, ParameterMut, Parameters, check_gradients};
use crate::tensor::Tensor;
use crate::{Gpu, Result};

/// The name of the layer in errors.
pub(super) const OP: &str = "ConvTranspose2d";

/// A transposed convolution of images with channels last, as `torch.nn.ConvTranspose2d`: a weight (channels, height, width, outputs /
/// groups), an optional bias (outputs), and options. Files hold the weight as `PyTorch` does, (channels, outputs / groups, height, width).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::Fill;
/// use tilewise::conv::{ConvOptions, ConvTranspose2d};
///
/// let twice = ConvOptions::new().stride([2, 2]);
/// let layer = ConvTranspose2d::random(&gpu, [8, 4], [2, 2], twice, 1)?;
/// let x = gpu.random::<f32>([1, 5, 7, 8], Fill::Uniform, 2)?;
/// let y = layer.forward(&x)?;
/// assert_eq!(y.shape(), [1, 10, 14, 4]);
/// let (of_x, _) = layer.backward(&x, &y)?;
/// assert_eq!(of_x.shape(), x.shape());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ConvTranspose2d<T: Real> {
    pub(super) weights: ConvWeights<T>,
    options: ConvOptions,
    output_padding: [usize; 2],
}

impl<T: Real> ConvTranspose2d<T> {
    /// A layer with these parameters, without output padding. It shares them and copies nothing.
    ///
    /// # Shapes
    /// `weight` (channels, height, width, outputs / groups), `bias` (outputs).
    /// # Errors
    /// As [`Conv2d::new`](crate::conv::Conv2d::new).
    pub fn new(weight: Tensor<T>, bias: Option<Tensor<T>>, options: ConvOptions) -> Result<Self> {
        call("ConvTranspose2d::new", || Self::of(weight, bias, options))
    }

    pub(super) fn of(weight: Tensor<T>, bias: Option<Tensor<T>>, options: ConvOptions) -> Result<Self> {
        let axes = "the weight must have the axes (channels, height, width, outputs / groups)";
        let outputs = |[.., of_group]: [usize; 4]| of_group.saturating_mul(options.groups);
        let weights = ConvWeights::new(OP, (weight, axes), bias, outputs)?;
        Ok(Self { weights, options, output_padding: [0, 0] })
    }

    /// A layer to train from scratch, with the initial parameters of `PyTorch`: weight and bias are uniform in $\pm 1 / \sqrt{n}$ with the
    /// $n$ elements of the weight for one channel. The same seed gives the same weights on every device.
    ///
    /// # Shapes
    /// `features` are the channels of the images and of the result; `kernel` has rows and columns.
    /// # Errors
    /// As [`Conv2d::random`](crate::conv::Conv2d::random).
    pub fn random(
        gpu: &Gpu,
        features: [usize; 2],
        kernel: [usize; 2],
        options: ConvOptions,
        seed: u64,
    ) -> Result<Self> {
        call("ConvTranspose2d::random", || {
            let ([channels, outputs], [height, width]) = (features, kernel);
            let shape = [channels, height, width, outputs / groups(OP, features, &options)?];
            let weights = ConvWeights::random(OP, gpu, shape, outputs, seed)?;
            Ok(Self { weights, options, output_padding: [0, 0] })
        })
    }

    /// The same layer without a bias.
    #[must_use]
    pub fn without_bias(mut self) -> Self {
        self.weights.bias = None;
        self
    }

    /// The same layer, whose results have this number of rows and columns more at their end: fewer than the stride or the dilation.
    #[must_use]
    pub fn output_padding(self, output_padding: [usize; 2]) -> Self {
        Self { output_padding, ..self }
    }

    /// The layer with its parameters in another type.
    ///
    /// # Errors
    /// As [`Tensor::cast`].
    /// # Precision
    /// As [`Tensor::cast`].
    pub fn cast<P: Real>(&self) -> Result<ConvTranspose2d<P>> {
        call("ConvTranspose2d::cast", || {
            let Self { options, output_padding, .. } = *self;
            Ok(ConvTranspose2d { weights: self.weights.cast()?, options, output_padding })
        })
    }

    /// The layer's result, as [`conv_transpose2d`].
    ///
    /// # Shapes
    /// `x` (batch, height, width, channels) -> (batch, height, width, outputs).
    /// # Errors
    /// As [`conv_transpose2d`].
    /// # Precision
    /// As [`conv_transpose2d`].
    pub fn forward(&self, x: &Tensor<T>) -> Result<Tensor<T>> {
        conv_transpose2d(x, self.weight(), self.bias(), &self.options, self.output_padding)
            .named("ConvTranspose2d::forward")
    }

    /// The backward pass (vector-Jacobian product), as [`conv_transpose2d_backward`].
    ///
    /// # Shapes
    /// As [`conv_transpose2d_backward`]: `weight` and `bias` in f32, in the shapes of the parameters.
    /// # Errors
    /// As [`conv_transpose2d_backward`].
    /// # Precision
    /// As [`conv_transpose2d_backward`].
    pub fn backward(&self, x: &Tensor<T>, grad: &Tensor<T>) -> Result<(Tensor<T>, Gradients)> {
        call("ConvTranspose2d::backward", || {
            let more = self.output_padding;
            conv_transpose2d_backward(x, self.weight(), self.bias(), &self.options, more, grad)
        })
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
        call("ConvTranspose2d::backward_into", || {
            check_gradients(OP, gradients, &self.parameters())?;
            let (of_x, own) = self.backward(x, grad)?;
            gradients.accumulate(own)?;
            Ok(of_x)
        })
    }

    /// The weight (channels, height, width, outputs / groups).
    #[must_use]
    pub fn weight(&self) -> &Tensor<T> {
        &self.weights.weight
    }

    /// The bias (outputs), if there is one.
    #[must_use]
    pub fn bias(&self) -> Option<&Tensor<T>> {
        self.weights.bias.as_ref()
    }
}

impl<T: Real> Parameters<T> for ConvTranspose2d<T> {
    /// `weight` (channels, height, width, outputs / groups), and `bias` (outputs) if the layer has one.
    fn parameters(&self) -> Vec<(String, &Tensor<T>)> {
        self.weights.parameters()
    }

    fn parameters_mut(&mut self) -> Vec<(String, ParameterMut<'_, T>)> {
        self.weights.parameters_mut()
    }
}
