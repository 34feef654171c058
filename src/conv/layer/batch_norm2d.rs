//! A batch norm with its weights and running statistics.

use crate::conv::batch_norm_terms;
use crate::error::{Named, call};
use crate::layout::Real;
use crate::ops::training::{Gradients, ParameterMut, Parameters, check_gradients};
use crate::ops::{BatchNorm, BatchNormed, RunningStatistics};
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result};

/// The name of the layer in errors.
pub(super) const OP: &str = "BatchNorm2d";

/// A batch norm of images with channels last, as `torch.nn.BatchNorm2d`: [`BatchNorm`] with its weight (gamma), bias (beta), running
/// statistics and the number of batches that they average. [`training`](Self::training) normalises by the statistics of a batch and
/// updates the running ones; [`forward`](Self::forward) is the norm in evaluation, by the running ones.
///
/// [`training_backward`](Self::training_backward) and [`backward`](Self::backward) are their backward passes.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::Fill;
/// use tilewise::conv::BatchNorm2d;
///
/// let mut norm = BatchNorm2d::<f32>::untrained(&gpu, 8)?.momentum(None); // the average of all batches
/// for seed in 1..=3 {
///     let x = gpu.random::<f32>([2, 4, 4, 8], Fill::Normal, seed)?;
///     let normed = norm.training(&x)?;
///     let (_of_x, gradients) = norm.training_backward(&x, &normed, &normed.y)?;
///     assert_eq!(gradients.len(), 2); // of `weight` and `bias`
/// }
/// assert_eq!(norm.batches(), 3);
/// let y = norm.forward(&gpu.random([1, 4, 4, 8], Fill::Normal, 4)?)?; // in evaluation
/// assert_eq!(y.shape(), [1, 4, 4, 8]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct BatchNorm2d<T: Real> {
    pub(super) weight: Option<Tensor<T>>,
    pub(super) bias: Option<Tensor<T>>,
    pub(super) running: RunningStatistics,
    pub(super) batches: u64,
    eps: f32,
    momentum: Option<f32>,
}

impl<T: Real> BatchNorm2d<T> {
    /// A norm with these parameters, $\varepsilon = 10^{-5}$ and a momentum of 0.1. It shares them and copies nothing. Without a weight
    /// it is 1, without a bias 0.
    ///
    /// # Shapes
    /// All are (channels).
    /// # Errors
    /// [`Error::Shape`] if a tensor has another shape than the running mean; [`Error::Gpu`] if tensors are on different devices.
    pub fn new(
        weight: Option<Tensor<T>>,
        bias: Option<Tensor<T>>,
        running: RunningStatistics,
    ) -> Result<Self> {
        call("BatchNorm2d::new", || Self::of(weight, bias, running, 0))
    }

    pub(super) fn of(
        weight: Option<Tensor<T>>,
        bias: Option<Tensor<T>>,
        running: RunningStatistics,
        batches: u64,
    ) -> Result<Self> {
        let (mean, variance) = (&running.mean, &running.variance);
        let weights = [&weight, &bias].map(|of| of.as_ref().map(|of| (of.shape(), of.gpu())));
        for (shape, gpu) in weights.into_iter().flatten().chain([(variance.shape(), variance.gpu())]) {
            crate::gpu::check_same_gpu(OP, mean.gpu(), gpu)?;
            if mean.shape().len() != 1 || shape != mean.shape() {
                let rule =
                    "weight, bias and running statistics must be vectors with an element for each channel";
                return Err(Error::shapes(OP, rule, shape, mean.shape()));
            }
        }
        Ok(Self { weight, bias, running, batches, eps: 1e-5, momentum: Some(0.1) })
    }

    /// The norm as training begins: the weight is 1, the bias 0, the running mean 0 and the running variance 1.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if it does not fit.
    pub fn untrained(gpu: &Gpu, channels: usize) -> Result<Self> {
        call("BatchNorm2d::untrained", || {
            let running =
                RunningStatistics { mean: gpu.zeros([channels])?, variance: gpu.full([channels], 1.0f32)? };
            let weight = gpu.full([channels], T::from_f64(1.0))?;
            Self::of(Some(weight), Some(gpu.zeros([channels])?), running, 0)
        })
    }

    /// Adds this number $\varepsilon$ to the variance: finite and at least 0. Keras, and many networks for the detection of objects,
    /// have $10^{-3}$.
    #[must_use]
    pub fn eps(self, eps: f32) -> Self {
        Self { eps, ..self }
    }

    /// The weight of a batch in the running statistics, as [`BatchNorm::momentum`]. `None` makes them the average of all batches: the
    /// weight of batch $n$ is $1/n$, counted from [`batches`](Self::batches).
    #[must_use]
    pub fn momentum(self, momentum: Option<f32>) -> Self {
        Self { momentum, ..self }
    }

    /// The norm in evaluation, as [`BatchNorm::run`].
    ///
    /// # Shapes
    /// `x` (batch, height, width, channels), or (..., channels) of up to 6 axes -> the same shape.
    /// # Errors
    /// As [`BatchNorm::run`].
    /// # Precision
    /// As [`BatchNorm::run`].
    /// # Launches
    /// One. [`ConvBnAct::folded`](crate::conv::ConvBnAct::folded) saves it.
    pub fn forward(&self, x: &Tensor<T>) -> Result<Tensor<T>> {
        self.norm().run(x, &self.running).named("BatchNorm2d::forward")
    }

    /// The backward pass of [`forward`](Self::forward), as [`BatchNorm::backward`]: the running statistics are constants.
    ///
    /// # Shapes
    /// `x` and `grad` have one shape -> the gradient of `x`, and those of `weight` and `bias` in f32, if the norm has these.
    /// # Errors
    /// As [`BatchNorm::backward`].
    /// # Precision
    /// As [`BatchNorm::backward`].
    pub fn backward(&self, x: &Tensor<T>, grad: &Tensor<T>) -> Result<(Tensor<T>, Gradients)> {
        call("BatchNorm2d::backward", || named(self.norm().backward(x, &self.running, grad)?))
    }

    /// As [`backward`](Self::backward), but adds the gradients of the parameters to `gradients`.
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
        call("BatchNorm2d::backward_into", || {
            check_gradients(OP, gradients, &self.parameters())?;
            added(self.backward(x, grad)?, gradients)
        })
    }

    /// The norm in training, as [`BatchNorm::training`]: by the statistics of the batch, with which it updates the running ones. The
    /// layer keeps these, so `running` of the result is `None`. After an error they are unchanged.
    ///
    /// In the closure of [`Gpu::capture`](crate::Gpu::capture), every run of the replay updates them, by the momentum of the capture;
    /// [`batches`](Self::batches) counts the capture as one batch.
    ///
    /// # Shapes
    /// As [`forward`](Self::forward), of two rows of channels at least.
    /// # Errors
    /// As [`BatchNorm::training`]; [`Error::Input`] in the closure of `capture` if other tensors share the running statistics.
    /// # Precision
    /// As [`BatchNorm::training`]. Running variances are averages of unbiased ones.
    pub fn training(&mut self, x: &Tensor<T>) -> Result<BatchNormed<T>> {
        call("BatchNorm2d::training", || {
            let mut normed = self.norm().training(x, Some(&self.running))?;
            if let Some(new) = normed.running.take() {
                ParameterMut::new(&mut self.running.mean).set(&new.mean)?;
                ParameterMut::new(&mut self.running.variance).set(&new.variance)?;
                self.batches = self.batches.saturating_add(1);
            }
            Ok(normed)
        })
    }

    /// The backward pass of [`training`](Self::training), as [`BatchNorm::training_backward`]: the statistics of the batch depend on `x`.
    ///
    /// # Shapes
    /// As [`backward`](Self::backward).
    /// # Errors
    /// As [`BatchNorm::training_backward`].
    /// # Precision
    /// As [`BatchNorm::training_backward`].
    pub fn training_backward(
        &self,
        x: &Tensor<T>,
        normed: &BatchNormed<T>,
        grad: &Tensor<T>,
    ) -> Result<(Tensor<T>, Gradients)> {
        call("BatchNorm2d::training_backward", || named(self.norm().training_backward(x, normed, grad)?))
    }

    /// As [`training_backward`](Self::training_backward), but adds the gradients of the parameters to `gradients`.
    ///
    /// # Shapes
    /// As [`backward`](Self::backward).
    /// # Errors
    /// As [`training_backward`](Self::training_backward), and as [`Parameters::pairs`] and [`Gradients::add`] for `gradients`.
    /// # Precision
    /// As [`training_backward`](Self::training_backward).
    pub fn training_backward_into(
        &self,
        x: &Tensor<T>,
        normed: &BatchNormed<T>,
        grad: &Tensor<T>,
        gradients: &mut Gradients,
    ) -> Result<Tensor<T>> {
        call("BatchNorm2d::training_backward_into", || {
            check_gradients(OP, gradients, &self.parameters())?;
            added(self.training_backward(x, normed, grad)?, gradients)
        })
    }

    /// The norm in evaluation as a scale and a shift of each channel, as [`batch_norm_terms`].
    ///
    /// # Shapes
    /// Both are (channels).
    /// # Errors
    /// As [`batch_norm_terms`].
    /// # Precision
    /// As [`batch_norm_terms`].
    pub fn terms(&self) -> Result<[Tensor<f32>; 2]> {
        call("BatchNorm2d::terms", || {
            let [weight, bias] =
                [&self.weight, &self.bias].map(|of| of.as_ref().map(Tensor::cast).transpose());
            batch_norm_terms(&self.running, weight?.as_ref(), bias?.as_ref(), self.eps)
        })
    }

    /// The norm with its weight and bias in another type. Running statistics stay f32.
    ///
    /// # Errors
    /// As [`Tensor::cast`].
    /// # Precision
    /// As [`Tensor::cast`].
    pub fn cast<P: Real>(&self) -> Result<BatchNorm2d<P>> {
        call("BatchNorm2d::cast", || {
            let [weight, bias] =
                [&self.weight, &self.bias].map(|of| of.as_ref().map(Tensor::cast).transpose());
            let (running, batches) = (self.running.clone(), self.batches);
            let Self { eps, momentum, .. } = *self;
            Ok(BatchNorm2d { weight: weight?, bias: bias?, running, batches, eps, momentum })
        })
    }

    /// The running statistics (channels).
    pub fn running(&self) -> &RunningStatistics {
        &self.running
    }

    /// The number of batches in training: `num_batches_tracked` of `PyTorch`.
    #[must_use]
    pub fn batches(&self) -> u64 {
        self.batches
    }

    /// The number of channels.
    #[must_use]
    pub fn channels(&self) -> usize {
        self.running.mean.len()
    }

    /// The norm of the next batch.
    #[expect(clippy::cast_possible_truncation, reason = "the weight of a batch is rounded once")]
    fn norm(&self) -> BatchNorm<'_, T> {
        let momentum = self.momentum.unwrap_or_else(|| (1.0 / (self.batches as f64 + 1.0)) as f32);
        let norm = BatchNorm::new().eps(self.eps).momentum(momentum);
        norm.gamma(self.weight.as_ref()).beta(self.bias.as_ref())
    }
}

/// `weight` (channels) and `bias` (channels), if the norm has them. Running statistics are not parameters; files have them.
impl<T: Real> Parameters<T> for BatchNorm2d<T> {
    fn parameters(&self) -> Vec<(String, &Tensor<T>)> {
        let named = [("weight", &self.weight), ("bias", &self.bias)];
        named.into_iter().filter_map(|(name, of)| Some((name.into(), of.as_ref()?))).collect()
    }

    fn parameters_mut(&mut self) -> Vec<(String, ParameterMut<'_, T>)> {
        let named = [("weight", &mut self.weight), ("bias", &mut self.bias)];
        let named = named.into_iter().filter_map(|(name, of)| Some((name, of.as_mut()?)));
        named.map(|(name, of)| (name.into(), ParameterMut::new(of))).collect()
    }
}

/// The gradients of a norm by the names of the layer.
fn named<T: Real>((of_x, own): (Tensor<T>, Gradients)) -> Result<(Tensor<T>, Gradients)> {
    let mut gradients = Gradients::new();
    for (from, to) in [("gamma", "weight"), ("beta", "bias")] {
        if let Some(gradient) = own.get(from) {
            gradients.add(to, gradient.clone())?;
        }
    }
    Ok((of_x, gradients))
}

/// Adds the gradients of a backward pass to others, and returns that of the operand.
pub(super) fn added<T: Real>(
    (of_x, own): (Tensor<T>, Gradients),
    gradients: &mut Gradients,
) -> Result<Tensor<T>> {
    gradients.accumulate(own)?;
    Ok(of_x)
}
