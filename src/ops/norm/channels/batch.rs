//! Batch norm.

use super::problem::ChannelPass;
use super::run::{ChannelNorm, UnitAxes};
use crate::error::call;
use crate::layout::Real;
use crate::ops::norm::results::NormGradients;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// The parameters of a batch norm. `BatchNorm::default()` has $\varepsilon = 10^{-5}$ and a momentum of 0.1, neither gamma nor
/// beta.
#[derive(Clone, Copy, Debug)]
pub struct BatchNorm<'a, T: Real> {
    /// The weights, which multiply the normalised elements: (channels).
    pub gamma: Option<&'a Tensor<T>>,
    /// The offsets, which are added afterwards: (channels).
    pub beta: Option<&'a Tensor<T>>,
    /// The number $\varepsilon$ that is added to the variance: finite and at least 0.
    pub eps: f32,
    /// The weight of the batch in the running statistics, as in `PyTorch`: $(1 - p) r + p s$ with the momentum $p$, the running
    /// statistic $r$ and the batch's statistic $s$. Keras and flax call $1 - p$ the momentum.
    pub momentum: f32,
}

impl<T: Real> Default for BatchNorm<'_, T> {
    fn default() -> Self {
        Self { gamma: None, beta: None, eps: 1e-5, momentum: 0.1 }
    }
}

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

/// Batch norm in evaluation, of an operand with channels last: $y = \gamma (x - m) / \sqrt{v + \varepsilon} + \beta$ with the
/// running mean $m$ and variance $v$ of a channel. If $v + \varepsilon = 0$, elements that are the mean become NaN, others infinite.
///
/// # Shapes
/// `x` (..., channels), any view of 1 to 6 axes; gamma, beta and the statistics (channels). The result has the shape of `x`,
/// row-major. If the strides do not allow the axes before the channels to be merged, the operand is copied first.
/// # Errors
/// [`Error::Shape`] if there are no channels, or gamma, beta or a statistic has another shape; [`Error::Input`] if eps or the
/// momentum is negative or not finite; [`Error::Gpu`] if operands are on different devices; [`Error::Limit`] if the
/// channels of a row exceed the device's binding size; [`Error::OutOfMemory`] if the result does not fit.
/// # Precision
/// Computed in f32, then stored: five roundings, and a reciprocal root with a relative error of at most $8 \cdot 2^{-23}$. The
/// given mean is f32: if it is large compared with the deviation, its rounding error shifts the result.
/// # Launches
/// One.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops::{self, BatchNorm, RunningStatistics};
///
/// let x = gpu.tensor(&[1.0f32, 20.0, 3.0, 40.0], [2, 2])?; // two rows of two channels
/// let running = RunningStatistics { mean: gpu.zeros([2])?, variance: gpu.tensor(&[1.0f32; 2], [2])? };
/// let norm = BatchNorm { momentum: 0.5, ..BatchNorm::default() };
/// let normed = ops::batch_norm_training(&x, Some(&running), norm)?;
/// let y = normed.y.to_vec()?;
/// assert!(y.iter().zip([-1.0, -1.0, 1.0, 1.0]).all(|(y, want)| (y - want).abs() < 1e-4));
/// let running = normed.running.expect("there were some");
/// assert_eq!(running.mean.to_vec()?, [1.0, 15.0]);
/// let y = ops::batch_norm(&x, &running, norm)?; // in evaluation
/// assert_eq!(y.shape(), [2, 2]);
/// # Ok(())
/// # }
/// ```
pub fn batch_norm<T: Real>(
    x: &Tensor<T>,
    running: &RunningStatistics,
    norm: BatchNorm<'_, T>,
) -> Result<Tensor<T>> {
    let op = "batch_norm";
    call(op, || Ok(norm.channels(op).forward(x, &running.given(), ChannelPass::Evaluation, &[])?.0))
}

/// The backward pass of [`batch_norm`] in evaluation: the statistics are constants.
///
/// # Shapes
/// As [`batch_norm`]; `grad` has the shape of `x`. The gradients of gamma and beta are f32 (channels).
/// # Errors
/// As [`batch_norm`], and [`Error::Shape`] if the gradient has another shape.
/// # Precision
/// Computed in f32 in a fixed order, then stored.
/// # Launches
/// One; with gamma or beta two more, for the sums of their gradients.
pub fn batch_norm_backward<T: Real>(
    x: &Tensor<T>,
    running: &RunningStatistics,
    norm: BatchNorm<'_, T>,
    grad: &Tensor<T>,
) -> Result<NormGradients<T>> {
    let op = "batch_norm_backward";
    let passes = [ChannelPass::EvaluationBackward, ChannelPass::EvaluationBackwardWithGradients];
    call(op, || norm.channels(op).backward(x, &running.given(), grad, passes))
}

/// Batch norm in training: by the mean and the biased variance of the rows of `x`. Returns them, and updated running statistics. If
/// $\varepsilon = 0$, a channel of equal elements becomes NaN.
///
/// # Shapes
/// As [`batch_norm`], of two rows at least.
/// # Errors
/// As [`batch_norm`], and [`Error::Shape`] if there are fewer than two rows.
/// # Precision
/// Computed in f32 in a fixed order, then stored: [`reference::group_norm`](crate::reference::group_norm) with one outer index and
/// one channel in a group. As in [`layer_norm`](crate::ops::layer_norm), the result is accurate for a large mean, and squares of
/// distances may overflow. Running variances are updated from the same sums.
/// # Launches
/// One: a workgroup has a few channels. Three under the condition of [`group_norm`](super::group_norm), and with running
/// statistics on a device with fewer than 11 storage bindings.
pub fn batch_norm_training<T: Real>(
    x: &Tensor<T>,
    running: Option<&RunningStatistics>,
    norm: BatchNorm<'_, T>,
) -> Result<BatchNormed<T>> {
    let op = "batch_norm_training";
    call(op, || {
        let norm = norm.channels(op);
        let shape = norm.statistics_shape(x)?;
        let rows: usize = x.shape()[..x.shape().len() - 1].iter().product();
        if rows < 2 {
            return Err(Error::shape(
                op,
                "there must be at least two rows, which have a variance",
                x.shape(),
            ));
        }
        let given = running.map(RunningStatistics::given);
        let (pass, results) = match given {
            Some(_) => (ChannelPass::TrainingWithRunning, 5),
            None => (ChannelPass::Training, 3),
        };
        let given: Vec<_> = given.into_iter().flatten().collect();
        let (y, others) = norm.forward(x, &given, pass, &vec![&shape[..]; results])?;
        let mut others = others.into_iter();
        let mut next = || others.next().ok_or_else(|| Error::device(format!("{op}: a result is missing")));
        let (mean, variance, rstd) = (next()?, next()?, next()?);
        let running = match running {
            Some(_) => Some(RunningStatistics { mean: next()?, variance: next()? }),
            None => None,
        };
        Ok(BatchNormed { y, mean, variance, rstd, running })
    })
}

/// The backward pass of [`batch_norm_training`] (vector-Jacobian product): the gradients of a loss with respect to `x`, gamma and
/// beta, from its gradient `grad` with respect to the result. The statistics of the batch depend on `x`; running statistics
/// receive no gradient.
///
/// # Shapes
/// As [`batch_norm_training`]; `grad` has the shape of `x`. The gradients of gamma and beta are f32 (channels).
/// # Errors
/// As [`batch_norm`], and [`Error::Shape`] if the gradient or a statistic has another shape than in the forward pass.
/// # Precision
/// Computed in f32 in a fixed order, then stored: [`reference::group_norm_backward`](crate::reference::group_norm_backward).
/// # Launches
/// Three: sums of channels in chunks of rows, which occupy the whole device; the means; the gradient of `x`.
pub fn batch_norm_training_backward<T: Real>(
    x: &Tensor<T>,
    normed: &BatchNormed<T>,
    norm: BatchNorm<'_, T>,
    grad: &Tensor<T>,
) -> Result<NormGradients<T>> {
    let op = "batch_norm_training_backward";
    let given = [("the mean", &normed.mean), ("rstd", &normed.rstd)];
    let passes = [ChannelPass::Backward, ChannelPass::BackwardWithGradients];
    call(op, || norm.channels(op).backward(x, &given, grad, passes))
}

impl RunningStatistics {
    fn given(&self) -> [(&'static str, &Tensor<f32>); 2] {
        [("the running mean", &self.mean), ("the running variance", &self.variance)]
    }
}

impl<'a, T: Real> BatchNorm<'a, T> {
    fn channels(&self, op: &'static str) -> ChannelNorm<'a, T> {
        let Self { gamma, beta, eps, momentum } = *self;
        ChannelNorm { op, units: UnitAxes::Batch, gamma, beta, eps, momentum }
    }
}
