//! Group norm and instance norm.

use super::passes::NormMode;
use super::results::Normed;
use super::run::NormCall;
use super::units::NormUnits;
use crate::Result;
use crate::error::call;
use crate::layout::Real;
use crate::ops::training::Gradients;
use crate::tensor::Tensor;

/// Group norm of an operand with channels last: $y = \gamma (x - m) / \sqrt{v + \varepsilon} + \beta$ with the mean $m$ and the
/// variance $v$ of the elements of a group of channels, for each index of the first axis.
///
/// A group that contains NaN or infinity becomes NaN. If $\varepsilon = 0$, so does a group of equal elements.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops::GroupNorm;
///
/// let x = gpu.tensor(&[1.0f32, 3.0, 10.0, 30.0, 1.0, 3.0, 10.0, 30.0], [1, 2, 4])?; // four channels
/// let y = GroupNorm::new(2).run(&x)?.to_vec()?;
/// assert!(y.iter().zip([-1.0, 1.0].iter().cycle()).all(|(y, want)| (y - want).abs() < 1e-4));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "a norm is computed by `run`"]
pub struct GroupNorm<'a, T: Real>(NormCall<'a, T>);

/// Instance norm of an operand with channels last: a [`GroupNorm`] with one channel in a group.
#[derive(Clone, Copy, Debug)]
#[must_use = "a norm is computed by `run`"]
pub struct InstanceNorm<'a, T: Real>(NormCall<'a, T>);

impl<'a, T: Real> GroupNorm<'a, T> {
    /// A norm of this number of groups, which divides the number of channels, with $\varepsilon = 10^{-5}$, without gamma and beta. A
    /// group has consecutive channels.
    pub fn new(groups: usize) -> Self {
        Self(NormCall::of(NormUnits::Groups(groups), 1e-5))
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

    /// Computes the norm.
    ///
    /// # Shapes
    /// `x` (n, ..., channels), any view of 2 to 6 axes. The result has the shape of `x`, row-major. If the strides do not allow the
    /// axes between the first and the last to be merged, the operand is copied first.
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if the groups do not divide the channels, the normalised axes are missing or empty, or
    /// gamma or beta has another shape; [`Error::Input`](crate::Error::Input) if eps is negative or not finite;
    /// [`Error::Gpu`](crate::Error::Gpu) if operands are on different devices; [`Error::Limit`](crate::Error::Limit) if the first axis
    /// has several indices and the elements of one exceed the device's binding size (slice along axis 0: a single index is computed
    /// in windows); [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the result does not fit.
    /// # Precision
    /// Computed in f32 in a fixed order, then stored: [`reference::group_norm`](crate::reference::group_norm). As in
    /// [`LayerNorm`](super::LayerNorm), the result is accurate for a large mean, and squares of distances may overflow.
    /// # Launches
    /// One: a workgroup has whole groups. Three if there are fewer than four workgroups for each core of the device and a workgroup
    /// has more than 128 KiB of `x`. Then the first launch computes the moments of channels in chunks of rows, which occupy the
    /// whole device; the second computes the statistics, and the third the result.
    pub fn run(&self, x: &Tensor<T>) -> Result<Tensor<T>> {
        call("GroupNorm::run", || self.0.run(x, &[]))
    }

    /// As [`run`](Self::run); also returns the mean and the reciprocal deviation of each group, which
    /// [`backward`](Self::backward) needs.
    ///
    /// # Shapes
    /// As [`run`](Self::run). The statistics are f32 (n, groups).
    /// # Errors
    /// As [`run`](Self::run).
    /// # Precision
    /// As [`run`](Self::run).
    pub fn with_statistics(&self, x: &Tensor<T>) -> Result<Normed<T>> {
        call("GroupNorm::with_statistics", || Normed::of(self.0.forward(x, None, &[], NormMode::Training)?))
    }

    /// The backward pass (vector-Jacobian product): the gradients of a loss with respect to `x`, gamma and beta, from its gradient
    /// `grad` with respect to the result. `normed` is the result of the forward pass of this norm.
    ///
    /// # Shapes
    /// As [`run`](Self::run); `grad` has the shape of `x`. The gradients `gamma` and `beta` are f32 (channels), if the norm has
    /// these.
    /// # Errors
    /// As [`run`](Self::run), and [`Error::Shape`](crate::Error::Shape) if the gradient or a statistic has another shape than in the
    /// forward pass.
    /// # Precision
    /// Computed in f32 in a fixed order, then stored: [`reference::group_norm_backward`](crate::reference::group_norm_backward).
    /// The rounding error of a large mean in f32 is corrected.
    /// # Launches
    /// Three: sums of channels in chunks of rows, the means of each group, the gradient of `x`. With gamma or beta a fourth adds the
    /// sums in a fixed order.
    pub fn backward(
        &self,
        x: &Tensor<T>,
        normed: &Normed<T>,
        grad: &Tensor<T>,
    ) -> Result<(Tensor<T>, Gradients)> {
        call("GroupNorm::backward", || self.0.backward(x, &normed.statistics(), grad, NormMode::Training))
    }
}

impl<'a, T: Real> InstanceNorm<'a, T> {
    /// A norm with $\varepsilon = 10^{-5}$, without gamma and beta.
    #[expect(clippy::new_without_default, reason = "a norm is built")]
    pub fn new() -> Self {
        Self(NormCall::of(NormUnits::Instances, 1e-5))
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

    /// Computes the norm.
    ///
    /// # Shapes
    /// As [`GroupNorm::run`].
    /// # Errors
    /// As [`GroupNorm::run`].
    /// # Precision
    /// As [`GroupNorm::run`].
    /// # Launches
    /// As [`GroupNorm::run`].
    pub fn run(&self, x: &Tensor<T>) -> Result<Tensor<T>> {
        call("InstanceNorm::run", || self.0.run(x, &[]))
    }

    /// As [`run`](Self::run); also returns the mean and the reciprocal deviation of each channel, which
    /// [`backward`](Self::backward) needs.
    ///
    /// # Shapes
    /// As [`run`](Self::run). The statistics are f32 (n, channels).
    /// # Errors
    /// As [`run`](Self::run).
    /// # Precision
    /// As [`run`](Self::run).
    pub fn with_statistics(&self, x: &Tensor<T>) -> Result<Normed<T>> {
        call("InstanceNorm::with_statistics", || {
            Normed::of(self.0.forward(x, None, &[], NormMode::Training)?)
        })
    }

    /// The backward pass (vector-Jacobian product): the gradients of a loss with respect to `x`, gamma and beta, from its gradient
    /// `grad` with respect to the result. `normed` is the result of the forward pass of this norm.
    ///
    /// # Shapes
    /// As [`run`](Self::run); `grad` has the shape of `x`. The gradients `gamma` and `beta` are f32 (channels), if the norm has
    /// these.
    /// # Errors
    /// As [`run`](Self::run), and [`Error::Shape`](crate::Error::Shape) if the gradient or a statistic has another shape than in the
    /// forward pass.
    /// # Precision
    /// As [`GroupNorm::backward`].
    /// # Launches
    /// As [`GroupNorm::backward`].
    pub fn backward(
        &self,
        x: &Tensor<T>,
        normed: &Normed<T>,
        grad: &Tensor<T>,
    ) -> Result<(Tensor<T>, Gradients)> {
        call("InstanceNorm::backward", || self.0.backward(x, &normed.statistics(), grad, NormMode::Training))
    }
}
