//! Layer norm.

use super::passes::NormMode;
use super::results::{Normed, missing};
use super::run::NormCall;
use super::units::NormUnits;
use crate::Result;
use crate::error::call;
use crate::layout::Real;
use crate::ops::norm::rows::problem::NormKind;
use crate::ops::training::Gradients;
use crate::tensor::Tensor;

/// Layer norm: $y = \gamma (x - m) / \sqrt{v + \varepsilon} + \beta$ with the mean $m$ and the variance $v$ (divided by $n$) of
/// the $n$ elements of a row. The last axis is normalised, or the last few as one.
///
/// A row that contains NaN or infinity becomes NaN. If $\varepsilon = 0$, so does a row of equal elements, as in `PyTorch`.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops::LayerNorm;
///
/// let x = gpu.tensor(&[1.0f32, 3.0, 1002.0, 998.0], [2, 2])?;
/// let gamma = gpu.tensor(&[1.0f32, 10.0], [2])?;
/// let y = LayerNorm::new().gamma(&gamma).run(&x)?.to_vec()?;
/// assert!(y.iter().zip([-1.0, 10.0, 1.0, -10.0]).all(|(y, want)| (y - want).abs() < 1e-3));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "a norm is computed by `run`"]
pub struct LayerNorm<'a, T: Real>(NormCall<'a, T>);

impl<'a, T: Real> LayerNorm<'a, T> {
    /// A norm of the last axis with $\varepsilon = 10^{-5}$, without gamma and beta.
    #[expect(clippy::new_without_default, reason = "a norm is built")]
    pub fn new() -> Self {
        Self(NormCall::of(NormUnits::Rows(NormKind::Layer, 1), 1e-5))
    }

    /// Normalises this number of last axes together, as one.
    pub fn axes(self, axes: usize) -> Self {
        Self(NormCall { units: NormUnits::Rows(NormKind::Layer, axes), ..self.0 })
    }

    /// Multiplies the normalised elements by these weights: of the shape of the normalised axes.
    pub fn gamma(self, gamma: impl Into<Option<&'a Tensor<T>>>) -> Self {
        Self(NormCall { gamma: gamma.into(), ..self.0 })
    }

    /// Adds these offsets afterwards: of the same shape.
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
    /// `x`: any view of 1 to 6 axes. The result has the shape of `x`, row-major. If several axes are normalised and their strides
    /// do not allow merging, the operand is copied first.
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if there are no such axes, they are empty, or gamma or beta has another shape;
    /// [`Error::Input`](crate::Error::Input) if eps is negative or not finite; [`Error::Gpu`](crate::Error::Gpu) if operands are on
    /// different devices; [`Error::Limit`](crate::Error::Limit) if a row exceeds the device's binding size;
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the result does not fit.
    /// # Precision
    /// Computed in f32 in a fixed order, then stored: [`reference::layer_norm`](crate::reference::layer_norm). Distances are taken to a
    /// point near the mean before they are squared or divided, so the result is accurate even if the mean is large compared with the
    /// deviation, as in [`var`](crate::ops::var). Squares of distances are summed in f32. Distances below $2^{-63}$ may count as 0.
    /// Squares of distances above about $2^{63}$ overflow: the reciprocal deviation is then 0, and the row is 0, or NaN if distances
    /// overflow too. The backward pass does the same.
    /// # Launches
    /// One. A GPU reads rows of up to 4,096 elements once and longer ones twice, a software device rows of up to 1,024 once.
    pub fn run(&self, x: &Tensor<T>) -> Result<Tensor<T>> {
        call("LayerNorm::run", || self.0.run(x, &[]))
    }

    /// As [`run`](Self::run); also returns the mean and the reciprocal deviation of each row, which [`backward`](Self::backward)
    /// needs.
    ///
    /// # Shapes
    /// As [`run`](Self::run). The statistics are f32, in the shape of the axes that are not normalised.
    /// # Errors
    /// As [`run`](Self::run).
    /// # Precision
    /// As [`run`](Self::run).
    pub fn with_statistics(&self, x: &Tensor<T>) -> Result<Normed<T>> {
        call("LayerNorm::with_statistics", || Normed::of(self.0.forward(x, None, &[], NormMode::Training)?))
    }

    /// The layer norm of $x + r$ for a residual $r$, in one launch. Returns the sum and its norm.
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
    pub fn residual(&self, x: &Tensor<T>, residual: &Tensor<T>) -> Result<(Tensor<T>, Normed<T>)> {
        call("LayerNorm::residual", || {
            let mut results = self.0.forward(x, Some(residual), &[], NormMode::Training)?;
            Ok((results.total.take().ok_or_else(missing)?, Normed::of(results)?))
        })
    }

    /// The backward pass (vector-Jacobian product): the gradients of a loss with respect to `x`, gamma and beta, from its gradient
    /// `grad` with respect to the result. `normed` is the result of the forward pass of this norm.
    ///
    /// With $\hat x = (x - m) / \sqrt{v + \varepsilon}$, $g$ the gradient times gamma, and means over a row, the gradient of `x` is
    /// $(g - \overline{g} - \hat x\\,\overline{g \hat x}) / \sqrt{v + \varepsilon}$. With a residual, it is the gradient of both.
    ///
    /// # Shapes
    /// As [`run`](Self::run); `grad` has the shape of `x`. The gradients `gamma` and `beta` are f32, in their shapes, if the norm has
    /// these.
    /// # Errors
    /// As [`run`](Self::run), and [`Error::Shape`](crate::Error::Shape) if the gradient or a statistic has another shape than in the
    /// forward pass.
    /// # Precision
    /// Computed in f32 in a fixed order, then stored: [`reference::layer_norm_backward`](crate::reference::layer_norm_backward). The
    /// rounding error of a large mean in f32 is corrected. Ranges as in [`run`](Self::run).
    /// # Launches
    /// One, which reads `x` and `grad` once (twice if a row does not fit, see [`run`](Self::run)). With gamma or beta, a second one
    /// adds partial sums in a fixed order.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::ops::LayerNorm;
    ///
    /// let x = gpu.tensor(&[1.0f32, 3.0, 1002.0, 998.0], [2, 2])?;
    /// let beta = gpu.zeros::<f32>([2])?;
    /// let norm = LayerNorm::new().beta(&beta);
    /// let normed = norm.with_statistics(&x)?;
    /// let grad = gpu.tensor(&[1.0f32, 0.0, 2.0, 0.0], [2, 2])?;
    /// let (of_x, gradients) = norm.backward(&x, &normed, &grad)?;
    /// assert_eq!(of_x.shape(), [2, 2]);
    /// assert_eq!(gradients.get("beta").expect("there is a beta").to_vec()?, [3.0, 0.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn backward(
        &self,
        x: &Tensor<T>,
        normed: &Normed<T>,
        grad: &Tensor<T>,
    ) -> Result<(Tensor<T>, Gradients)> {
        call("LayerNorm::backward", || self.0.backward(x, &normed.statistics(), grad, NormMode::Training))
    }
}
