//! RMS norm.

use super::passes::NormMode;
use super::results::{NormResults, missing};
use super::run::NormCall;
use super::units::NormUnits;
use crate::Result;
use crate::error::call;
use crate::layout::Real;
use crate::ops::norm::rows::problem::NormKind;
use crate::ops::training::Gradients;
use crate::tensor::Tensor;

/// RMS norm: $y = \gamma x / \sqrt{q + \varepsilon}$ with the mean $q$ of the squares of a row. The last axis is normalised, or
/// the last few as one.
///
/// A row that contains NaN becomes NaN. In a row with infinity, the infinite elements become NaN and the others 0. If
/// $\varepsilon = 0$, a row of zeros becomes NaN.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops::RmsNorm;
/// use tilewise::{Activation, Fill, linear};
///
/// // A block of a transformer that normalises first: each part adds to what flows through.
/// let x = gpu.random::<f32>([4, 64], Fill::Uniform, 1)?;
/// let attended = gpu.random::<f32>([4, 64], Fill::Uniform, 2)?;
/// let gamma = gpu.tensor(&[1.0f32; 64], [64])?;
/// let (up, down) = (gpu.random::<f32>([256, 64], Fill::Uniform, 3)?, gpu.random::<f32>([64, 256], Fill::Uniform, 4)?);
///
/// let (x, normed) = RmsNorm::new().gamma(&gamma).residual(&x, &attended)?; // one launch
/// let hidden = linear(&normed.y, &up, None, Activation::Silu)?;
/// let x = (&x + &linear(&hidden, &down, None, Activation::None)?)?;
/// assert_eq!(x.shape(), [4, 64]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "a norm is computed by `run`"]
pub struct RmsNorm<'a, T: Real>(NormCall<'a, T>);

/// The result of an RMS norm, and the statistic that its backward pass needs.
#[derive(Clone, Debug)]
pub struct RmsNormed<T: Real> {
    /// The result.
    pub y: Tensor<T>,
    /// One over the root mean square of each row, $1 / \sqrt{q + \varepsilon}$ with the mean square $q$, in the shape of the axes
    /// that are not normalised.
    pub rstd: Tensor<f32>,
}

impl<T: Real> RmsNormed<T> {
    fn of(results: NormResults<T>) -> Result<Self> {
        let (y, [rstd]) = results.with_statistics()?;
        Ok(Self { y, rstd })
    }
}

impl<'a, T: Real> RmsNorm<'a, T> {
    /// A norm of the last axis with $\varepsilon = 10^{-6}$, without gamma.
    #[expect(clippy::new_without_default, reason = "a norm is built")]
    pub fn new() -> Self {
        Self(NormCall::of(NormUnits::Rows(NormKind::Rms, 1), 1e-6))
    }

    /// Normalises this number of last axes together, as one.
    pub fn axes(self, axes: usize) -> Self {
        Self(NormCall { units: NormUnits::Rows(NormKind::Rms, axes), ..self.0 })
    }

    /// Multiplies the normalised elements by these weights: of the shape of the normalised axes.
    pub fn gamma(self, gamma: impl Into<Option<&'a Tensor<T>>>) -> Self {
        Self(NormCall { gamma: gamma.into(), ..self.0 })
    }

    /// Adds this number $\varepsilon$ to the mean square: finite and at least 0.
    pub fn eps(self, eps: f32) -> Self {
        Self(NormCall { eps, ..self.0 })
    }

    /// Computes the norm.
    ///
    /// # Shapes
    /// As [`LayerNorm::run`](super::LayerNorm::run).
    /// # Errors
    /// As [`LayerNorm::run`](super::LayerNorm::run).
    /// # Precision
    /// Computed in f32 in a fixed order, then stored: [`reference::rms_norm`](crate::reference::rms_norm). Squares are summed in f32.
    /// Elements below $2^{-63}$ may count as 0. Squares of elements above about $2^{63}$ overflow: the reciprocal root is then 0, and
    /// so is the row, here and in the backward pass.
    /// # Launches
    /// As [`LayerNorm::run`](super::LayerNorm::run).
    pub fn run(&self, x: &Tensor<T>) -> Result<Tensor<T>> {
        call("RmsNorm::run", || self.0.run(x, &[]))
    }

    /// As [`run`](Self::run); also returns one over the root mean square of each row, which [`backward`](Self::backward) needs.
    ///
    /// # Shapes
    /// As [`run`](Self::run). The statistic is f32, in the shape of the axes that are not normalised.
    /// # Errors
    /// As [`run`](Self::run).
    /// # Precision
    /// As [`run`](Self::run).
    pub fn with_statistics(&self, x: &Tensor<T>) -> Result<RmsNormed<T>> {
        call("RmsNorm::with_statistics", || {
            RmsNormed::of(self.0.forward(x, None, &[], NormMode::Training)?)
        })
    }

    /// The RMS norm of $x + r$ for a residual $r$, in one launch. Returns the sum and its norm.
    ///
    /// The sum is stored as `T`, and the stored sum is normalised: the results have the same bits as those of
    /// [`add`](crate::ops::add) and [`with_statistics`](Self::with_statistics). For the backward pass, pass the sum as the operand.
    ///
    /// # Shapes
    /// As [`run`](Self::run); `residual` has the shape of `x`.
    /// # Errors
    /// As [`run`](Self::run), and [`Error::Shape`](crate::Error::Shape) if the residual has another shape.
    /// # Precision
    /// As [`run`](Self::run).
    pub fn residual(&self, x: &Tensor<T>, residual: &Tensor<T>) -> Result<(Tensor<T>, RmsNormed<T>)> {
        call("RmsNorm::residual", || {
            let mut results = self.0.forward(x, Some(residual), &[], NormMode::Training)?;
            Ok((results.total.take().ok_or_else(missing)?, RmsNormed::of(results)?))
        })
    }

    /// The backward pass (vector-Jacobian product): the gradients of a loss with respect to `x` and gamma, from its gradient `grad`
    /// with respect to the result. `normed` is the result of the forward pass of this norm.
    ///
    /// With $\hat x = x / \sqrt{q + \varepsilon}$, $g$ the gradient times gamma, and means over a row, the gradient of `x` is
    /// $(g - \hat x\\,\overline{g \hat x}) / \sqrt{q + \varepsilon}$. With a residual, it is the gradient of both.
    ///
    /// # Shapes
    /// As [`run`](Self::run); `grad` has the shape of `x`. The gradient `gamma` is f32, in its shape, if the norm has a gamma.
    /// # Errors
    /// As [`run`](Self::run), and [`Error::Shape`](crate::Error::Shape) if the gradient or the statistic has another shape than in the
    /// forward pass.
    /// # Precision
    /// Computed in f32 in a fixed order, then stored: [`reference::rms_norm_backward`](crate::reference::rms_norm_backward).
    /// # Launches
    /// As [`LayerNorm::backward`](super::LayerNorm::backward).
    pub fn backward(
        &self,
        x: &Tensor<T>,
        normed: &RmsNormed<T>,
        grad: &Tensor<T>,
    ) -> Result<(Tensor<T>, Gradients)> {
        call("RmsNorm::backward", || self.0.backward(x, &[("rstd", &normed.rstd)], grad, NormMode::Training))
    }
}
