//! Batch norm.

use super::passes::NormMode;
use super::run::NormCall;
use super::units::{NormUnits, OP};
use crate::error::call;
use crate::layout::Real;
use crate::ops::training::Gradients;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// Batch norm of an operand with channels last: $y = \gamma (x - m) / \sqrt{v + \varepsilon} + \beta$. In training $m$ and $v$ are
/// the mean and the biased variance of a channel, in evaluation its running ones.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops::{BatchNorm, RunningStatistics};
///
/// let x = gpu.tensor(&[1.0f32, 20.0, 3.0, 40.0], [2, 2])?; // two rows of two channels
/// let running = RunningStatistics { mean: gpu.zeros([2])?, variance: gpu.tensor(&[1.0f32; 2], [2])? };
/// let norm = BatchNorm::new().momentum(0.5);
/// let normed = norm.training(&x, Some(&running))?;
/// let y = normed.y.to_vec()?;
/// assert!(y.iter().zip([-1.0, -1.0, 1.0, 1.0]).all(|(y, want)| (y - want).abs() < 1e-4));
/// let running = normed.running.expect("there were some");
/// assert_eq!(running.mean.to_vec()?, [1.0, 15.0]);
/// let y = norm.run(&x, &running)?; // in evaluation
/// assert_eq!(y.shape(), [2, 2]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "a norm is computed by `run` or `training`"]
pub struct BatchNorm<'a, T: Real>(NormCall<'a, T>);

/// The running statistics of a batch norm, per channel.
#[derive(Clone, Debug)]
pub struct RunningStatistics {
    /// The means.
    pub mean: Tensor<f32>,
    /// The variances. The average is of the batches' unbiased variances, which are divided by one less than the number of
    /// rows.
    pub variance: Tensor<f32>,
}

/// The result of a batch norm in training, and the statistics of the batch, per channel.
#[derive(Clone, Debug)]
pub struct BatchNormed<T: Real> {
    /// The result.
    pub y: Tensor<T>,
    /// The mean of the rows.
    pub mean: Tensor<f32>,
    /// The variance, divided by the number of rows (biased).
    pub variance: Tensor<f32>,
    /// One over the deviation, $1 / \sqrt{v + \varepsilon}$.
    pub rstd: Tensor<f32>,
    /// The updated running statistics, if the call had running statistics: new tensors.
    pub running: Option<RunningStatistics>,
}

impl RunningStatistics {
    fn given(&self) -> [(&'static str, &Tensor<f32>); 2] {
        [("the running mean", &self.mean), ("the running variance", &self.variance)]
    }
}

impl<'a, T: Real> BatchNorm<'a, T> {
    /// A norm with $\varepsilon = 10^{-5}$ and a momentum of 0.1, without gamma and beta.
    #[expect(clippy::new_without_default, reason = "a norm is built")]
    pub fn new() -> Self {
        Self(NormCall::of(NormUnits::Batch, 1e-5)).momentum(0.1)
    }

    /// Multiplies the normalised elements by these weights: (channels).
    pub fn gamma(self, gamma: impl Into<Option<&'a Tensor<T>>>) -> Self {
        Self(NormCall { gamma: gamma.into(), ..self.0 })
    }

    /// Adds these offsets afterwards: (channels).
    pub fn beta(self, beta: impl Into<Option<&'a Tensor<T>>>) -> Self {
        Self(NormCall { beta: beta.into(), ..self.0 })
    }

    /// Adds this number $\varepsilon$ to the variance: finite and at least 0.
    pub fn eps(self, eps: f32) -> Self {
        Self(NormCall { eps, ..self.0 })
    }

    /// The weight of the batch in the running statistics, as in `PyTorch`: $(1 - p) r + p s$ with the momentum $p$, the running
    /// statistic $r$ and the batch's statistic $s$. Keras and flax call $1 - p$ the momentum.
    pub fn momentum(self, momentum: f32) -> Self {
        Self(NormCall { momentum, ..self.0 })
    }

    /// Computes the norm in evaluation, by the running mean and variance of each channel. If $v + \varepsilon = 0$, elements that
    /// are the mean become NaN, others infinite.
    ///
    /// # Shapes
    /// `x` (..., channels), any view of 1 to 6 axes; the statistics (channels). The result has the shape of `x`, row-major. If the
    /// strides do not allow the axes before the channels to be merged, the operand is copied first.
    /// # Errors
    /// [`Error::Shape`] if there are no channels, or gamma, beta or a statistic has another shape; [`Error::Input`] if eps or the
    /// momentum is negative or not finite; [`Error::Gpu`] if operands are on different devices; [`Error::Limit`] if the
    /// channels of a row exceed the device's binding size; [`Error::OutOfMemory`] if the result does not fit.
    /// # Precision
    /// Computed in f32, then stored: five roundings, and a reciprocal root with a relative error of at most $8 \cdot 2^{-23}$. The
    /// given mean is f32: if it is large compared with the deviation, its rounding error shifts the result.
    /// # Launches
    /// One.
    pub fn run(&self, x: &Tensor<T>, running: &RunningStatistics) -> Result<Tensor<T>> {
        call("BatchNorm::run", || self.0.run(x, &running.given()))
    }

    /// The backward pass of [`run`](Self::run): the statistics are constants.
    ///
    /// # Shapes
    /// As [`run`](Self::run); `grad` has the shape of `x`. The gradients `gamma` and `beta` are f32 (channels), if the norm has
    /// these.
    /// # Errors
    /// As [`run`](Self::run), and [`Error::Shape`] if the gradient has another shape.
    /// # Precision
    /// Computed in f32 in a fixed order, then stored.
    /// # Launches
    /// One; with gamma or beta two more, for the sums of their gradients.
    pub fn backward(
        &self,
        x: &Tensor<T>,
        running: &RunningStatistics,
        grad: &Tensor<T>,
    ) -> Result<(Tensor<T>, Gradients)> {
        call("BatchNorm::backward", || self.0.backward(x, &running.given(), grad, NormMode::Inference))
    }

    /// Computes the norm in training: by the mean and the biased variance of the rows of `x`. Returns them, and updated running
    /// statistics. If $\varepsilon = 0$, a channel of equal elements becomes NaN.
    ///
    /// # Shapes
    /// As [`run`](Self::run), of two rows at least.
    /// # Errors
    /// As [`run`](Self::run), and [`Error::Shape`] if there are fewer than two rows.
    /// # Precision
    /// Computed in f32 in a fixed order, then stored: [`reference::group_norm`](crate::reference::group_norm) with one outer index and
    /// one channel in a group. As in [`LayerNorm`](super::LayerNorm), the result is accurate for a large mean, and squares of
    /// distances may overflow. Running variances are updated from the same sums.
    /// # Launches
    /// One: a workgroup has a few channels. Three under the condition of [`GroupNorm::run`](super::GroupNorm::run), and with running
    /// statistics on a device with fewer than 11 storage bindings.
    pub fn training(&self, x: &Tensor<T>, running: Option<&RunningStatistics>) -> Result<BatchNormed<T>> {
        call("BatchNorm::training", || {
            self.0.units.shapes(x.shape())?;
            let rows: usize = x.shape()[..x.shape().len() - 1].iter().product();
            if rows < 2 {
                let rule = "there must be at least two rows, which have a variance";
                return Err(Error::shape(OP, rule, x.shape()));
            }
            let Some(running) = running else {
                let results = self.0.forward(x, None, &[], NormMode::Training)?;
                let (y, [mean, variance, rstd]) = results.with_statistics()?;
                return Ok(BatchNormed { y, mean, variance, rstd, running: None });
            };
            let results = self.0.forward(x, None, &running.given(), NormMode::TrainingWithRunning)?;
            let (y, [mean, variance, rstd, new_mean, new_variance]) = results.with_statistics()?;
            let running = Some(RunningStatistics { mean: new_mean, variance: new_variance });
            Ok(BatchNormed { y, mean, variance, rstd, running })
        })
    }

    /// The backward pass of [`training`](Self::training) (vector-Jacobian product): the gradients of a loss with respect to `x`, gamma
    /// and beta, from its gradient `grad` with respect to the result. The statistics of the batch depend on `x`; running statistics
    /// receive no gradient.
    ///
    /// # Shapes
    /// As [`training`](Self::training); `grad` has the shape of `x`. The gradients `gamma` and `beta` are f32 (channels), if the norm
    /// has these.
    /// # Errors
    /// As [`run`](Self::run), and [`Error::Shape`] if the gradient or a statistic has another shape than in the forward pass.
    /// # Precision
    /// Computed in f32 in a fixed order, then stored: [`reference::group_norm_backward`](crate::reference::group_norm_backward).
    /// # Launches
    /// Three: sums of channels in chunks of rows, which occupy the whole device; the means; the gradient of `x`.
    pub fn training_backward(
        &self,
        x: &Tensor<T>,
        normed: &BatchNormed<T>,
        grad: &Tensor<T>,
    ) -> Result<(Tensor<T>, Gradients)> {
        let given = [("the mean", &normed.mean), ("rstd", &normed.rstd)];
        call("BatchNorm::training_backward", || self.0.backward(x, &given, grad, NormMode::Training))
    }
}
