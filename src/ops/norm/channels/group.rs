//! Group norm and instance norm.

use super::problem::ChannelPass;
use super::run::{ChannelNorm, UnitAxes};
use crate::error::call;
use crate::layout::Real;
use crate::ops::norm::results::NormGradients;
use crate::ops::norm::rows::Normed;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// The parameters of a group norm: [`GroupNorm::new`] has $\varepsilon = 10^{-5}$, neither gamma nor beta.
#[derive(Clone, Copy, Debug)]
pub struct GroupNorm<'a, T: Real> {
    /// The number of groups; it divides the number of channels. A group has consecutive channels.
    pub groups: usize,
    /// The weights, which multiply the normalised elements: (channels).
    pub gamma: Option<&'a Tensor<T>>,
    /// The offsets, which are added afterwards: (channels).
    pub beta: Option<&'a Tensor<T>>,
    /// The number $\varepsilon$ that is added to the variance: finite and at least 0.
    pub eps: f32,
}

impl<T: Real> GroupNorm<'_, T> {
    /// This number of groups.
    #[must_use]
    pub fn new(groups: usize) -> Self {
        Self { groups, gamma: None, beta: None, eps: 1e-5 }
    }
}

/// The parameters of an instance norm. `InstanceNorm::default()` has $\varepsilon = 10^{-5}$, neither gamma nor beta.
#[derive(Clone, Copy, Debug)]
pub struct InstanceNorm<'a, T: Real> {
    /// The weights, which multiply the normalised elements: (channels).
    pub gamma: Option<&'a Tensor<T>>,
    /// The offsets, which are added afterwards: (channels).
    pub beta: Option<&'a Tensor<T>>,
    /// The number $\varepsilon$ that is added to the variance: finite and at least 0.
    pub eps: f32,
}

impl<T: Real> Default for InstanceNorm<'_, T> {
    fn default() -> Self {
        Self { gamma: None, beta: None, eps: 1e-5 }
    }
}

/// Group norm of an operand with channels last: $y = \gamma (x - m) / \sqrt{v + \varepsilon} + \beta$ with the mean $m$ and the
/// variance $v$ of the elements of a group of channels, for each index of the first axis.
///
/// A group that contains NaN or infinity becomes NaN. If $\varepsilon = 0$, so does a group of equal elements.
///
/// # Shapes
/// `x` (n, ..., channels), any view of 2 to 6 axes; gamma and beta (channels). The result has the shape of `x`, row-major. If the
/// strides do not allow the axes between the first and the last to be merged, the operand is copied first.
/// # Errors
/// [`Error::Shape`] if the groups do not divide the channels, the normalised axes are missing or empty, or gamma or beta has
/// another shape; [`Error::Input`] if eps is negative or not finite; [`Error::Gpu`] if operands are on different devices;
/// [`Error::Limit`] if the first axis has several indices and the elements of one exceed the device's binding size (slice along
/// axis 0: a single index is computed in windows); [`Error::OutOfMemory`] if the result does not fit.
/// # Precision
/// Computed in f32 in a fixed order, then stored: [`reference::group_norm`](crate::reference::group_norm). As in
/// [`layer_norm`](crate::ops::layer_norm), the result is accurate for a large mean, and squares of distances may
/// overflow.
/// # Launches
/// One: a workgroup has whole groups. Three if there are fewer than four workgroups for each core of the device and a workgroup
/// has more than 128 KiB of `x`. Then the first launch computes the moments of channels in chunks of rows, which occupy the
/// whole device; the second computes the statistics, and the third the result.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops::{self, GroupNorm};
///
/// let x = gpu.tensor(&[1.0f32, 3.0, 10.0, 30.0, 1.0, 3.0, 10.0, 30.0], [1, 2, 4])?; // four channels
/// let y = ops::group_norm(&x, GroupNorm::new(2))?.to_vec()?;
/// assert!(y.iter().zip([-1.0, 1.0].iter().cycle()).all(|(y, want)| (y - want).abs() < 1e-4));
/// # Ok(())
/// # }
/// ```
pub fn group_norm<T: Real>(x: &Tensor<T>, norm: GroupNorm<'_, T>) -> Result<Tensor<T>> {
    let op = "group_norm";
    call(op, || Ok(normed(&norm.channels(op), x)?.y))
}

/// As [`group_norm`]; also returns the mean and the reciprocal deviation of each group, which [`group_norm_backward`]
/// needs.
///
/// # Shapes
/// As [`group_norm`]. The statistics are f32 (n, groups).
/// # Errors
/// As [`group_norm`].
/// # Precision
/// As [`group_norm`].
pub fn group_norm_with_statistics<T: Real>(x: &Tensor<T>, norm: GroupNorm<'_, T>) -> Result<Normed<T>> {
    let op = "group_norm_with_statistics";
    call(op, || normed(&norm.channels(op), x))
}

/// The backward pass of [`group_norm`] (vector-Jacobian product): the gradients of a loss with respect to `x`, gamma and beta,
/// from its gradient `grad` with respect to the result. `normed` is the result of the forward pass, and `norm` its parameters.
///
/// # Shapes
/// As [`group_norm`]; `grad` has the shape of `x`. The gradients of gamma and beta are f32 (channels).
/// # Errors
/// As [`group_norm`], and [`Error::Shape`] if the gradient or a statistic has another shape than in the forward pass.
/// # Precision
/// Computed in f32 in a fixed order, then stored: [`reference::group_norm_backward`](crate::reference::group_norm_backward).
/// The rounding error of a large mean in f32 is corrected.
/// # Launches
/// Three: sums of channels in chunks of rows, the means of each group, the gradient of `x`. With gamma or beta a fourth adds the
/// sums in a fixed order.
pub fn group_norm_backward<T: Real>(
    x: &Tensor<T>,
    normed: &Normed<T>,
    norm: GroupNorm<'_, T>,
    grad: &Tensor<T>,
) -> Result<NormGradients<T>> {
    let op = "group_norm_backward";
    call(op, || backward(&norm.channels(op), x, normed, grad))
}

/// Instance norm of an operand with channels last: a [`group_norm`] with one channel in a group.
///
/// # Shapes
/// As [`group_norm`].
/// # Errors
/// As [`group_norm`].
/// # Precision
/// As [`group_norm`].
/// # Launches
/// As [`group_norm`].
pub fn instance_norm<T: Real>(x: &Tensor<T>, norm: InstanceNorm<'_, T>) -> Result<Tensor<T>> {
    let op = "instance_norm";
    call(op, || Ok(normed(&norm.channels(op), x)?.y))
}

/// As [`instance_norm`]; also returns the mean and the reciprocal deviation of each channel, which [`instance_norm_backward`]
/// needs.
///
/// # Shapes
/// As [`instance_norm`]. The statistics are f32 (n, channels).
/// # Errors
/// As [`instance_norm`].
/// # Precision
/// As [`instance_norm`].
pub fn instance_norm_with_statistics<T: Real>(x: &Tensor<T>, norm: InstanceNorm<'_, T>) -> Result<Normed<T>> {
    let op = "instance_norm_with_statistics";
    call(op, || normed(&norm.channels(op), x))
}

/// The backward pass of [`instance_norm`], as [`group_norm_backward`].
///
/// # Shapes
/// As [`group_norm_backward`].
/// # Errors
/// As [`group_norm_backward`].
/// # Precision
/// As [`group_norm_backward`].
pub fn instance_norm_backward<T: Real>(
    x: &Tensor<T>,
    normed: &Normed<T>,
    norm: InstanceNorm<'_, T>,
    grad: &Tensor<T>,
) -> Result<NormGradients<T>> {
    let op = "instance_norm_backward";
    call(op, || backward(&norm.channels(op), x, normed, grad))
}

impl<'a, T: Real> GroupNorm<'a, T> {
    fn channels(&self, op: &'static str) -> ChannelNorm<'a, T> {
        let Self { groups, gamma, beta, eps } = *self;
        ChannelNorm { op, units: UnitAxes::Groups(groups), gamma, beta, eps, momentum: 0.0 }
    }
}

impl<'a, T: Real> InstanceNorm<'a, T> {
    fn channels(&self, op: &'static str) -> ChannelNorm<'a, T> {
        let Self { gamma, beta, eps } = *self;
        ChannelNorm { op, units: UnitAxes::Instances, gamma, beta, eps, momentum: 0.0 }
    }
}

fn normed<T: Real>(norm: &ChannelNorm<'_, T>, x: &Tensor<T>) -> Result<Normed<T>> {
    let shape = norm.statistics_shape(x)?;
    let (y, others) = norm.forward(x, &[], ChannelPass::Group, &[&shape, &shape])?;
    let missing = |_| Error::device(format!("{}: a result is missing", norm.op));
    let [mean, rstd] = others.try_into().map_err(missing)?;
    Ok(Normed { y, mean, rstd })
}

fn backward<T: Real>(
    norm: &ChannelNorm<'_, T>,
    x: &Tensor<T>,
    normed: &Normed<T>,
    grad: &Tensor<T>,
) -> Result<NormGradients<T>> {
    let given = [("the mean", &normed.mean), ("rstd", &normed.rstd)];
    norm.backward(x, &given, grad, [ChannelPass::Backward, ChannelPass::BackwardWithGradients])
}
