//! RMS norm.

use super::problem::{NormKind, NormPass};
use super::run::{RowNorm, RowResults};
use crate::error::call;
use crate::layout::Real;
use crate::ops::norm::results::NormGradients;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// The parameters of an RMS norm. `RmsNorm::default()` normalises the last axis with $\varepsilon = 10^{-6}$, without gamma.
#[derive(Clone, Copy, Debug)]
pub struct RmsNorm<'a, T: Real> {
    /// The number of last axes that are normalised together, as one.
    pub axes: usize,
    /// The weights, which multiply the normalised elements: of the shape of the normalised axes.
    pub gamma: Option<&'a Tensor<T>>,
    /// The number $\varepsilon$ that is added to the mean square: finite and at least 0.
    pub eps: f32,
}

impl<T: Real> Default for RmsNorm<'_, T> {
    fn default() -> Self {
        Self { axes: 1, gamma: None, eps: 1e-6 }
    }
}

/// The result of an RMS norm, and the statistic that its backward pass needs.
#[derive(Clone, Debug)]
pub struct RmsNormed<T: Real> {
    /// The result.
    pub y: Tensor<T>,
    /// One over the root mean square of each row, $1 / \sqrt{q + \varepsilon}$ with the mean square $q$, in the shape of the axes
    /// that are not normalised.
    pub rstd: Tensor<f32>,
}

/// RMS norm: $y = \gamma x / \sqrt{q + \varepsilon}$ with the mean $q$ of the squares of a row. The last axis is normalised, or
/// the last few as one.
///
/// A row that contains NaN becomes NaN. In a row with infinity, the infinite elements become NaN and the others 0. If
/// $\varepsilon = 0$, a row of zeros becomes NaN.
///
/// # Shapes
/// As [`layer_norm`](super::layer_norm).
/// # Errors
/// As [`layer_norm`](super::layer_norm).
/// # Precision
/// Computed in f32 in a fixed order, then stored: [`reference::rms_norm`](crate::reference::rms_norm). Squares are summed in f32.
/// Elements below $2^{-63}$ may count as 0. Squares of elements above about $2^{63}$ overflow: the reciprocal root is then 0, and
/// so is the row, here and in the backward pass.
/// # Launches
/// As [`layer_norm`](super::layer_norm).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops::{self, RmsNorm};
/// use tilewise::{Activation, Fill, linear};
///
/// // A block of a transformer that normalises first: each part adds to what flows through.
/// let x = gpu.random::<f32>([4, 64], Fill::Uniform, 1)?;
/// let attended = gpu.random::<f32>([4, 64], Fill::Uniform, 2)?;
/// let gamma = gpu.tensor(&[1.0f32; 64], [64])?;
/// let (up, down) = (gpu.random::<f32>([256, 64], Fill::Uniform, 3)?, gpu.random::<f32>([64, 256], Fill::Uniform, 4)?);
///
/// let norm = RmsNorm { gamma: Some(&gamma), ..RmsNorm::default() };
/// let (x, normed) = ops::rms_norm_residual(&x, &attended, norm)?; // one launch
/// let hidden = linear(&normed.y, &up, None, Activation::Silu)?;
/// let x = (&x + &linear(&hidden, &down, None, Activation::None)?)?;
/// assert_eq!(x.shape(), [4, 64]);
/// # Ok(())
/// # }
/// ```
pub fn rms_norm<T: Real>(x: &Tensor<T>, norm: RmsNorm<'_, T>) -> Result<Tensor<T>> {
    let op = "rms_norm";
    call(op, || Ok(norm.rows(op).forward(x, None, NormPass::Forward)?.y))
}

/// As [`rms_norm`]; also returns one over the root mean square of each row, which [`rms_norm_backward`] needs.
///
/// # Shapes
/// As [`rms_norm`]. The statistic is f32, in the shape of the axes that are not normalised.
/// # Errors
/// As [`rms_norm`].
/// # Precision
/// As [`rms_norm`].
pub fn rms_norm_with_statistics<T: Real>(x: &Tensor<T>, norm: RmsNorm<'_, T>) -> Result<RmsNormed<T>> {
    let op = "rms_norm_with_statistics";
    call(op, || Ok(normed(op, norm.rows(op).forward(x, None, NormPass::ForwardWithStatistics)?)?.1))
}

/// The RMS norm of $x + r$ for a residual $r$, in one launch. Returns the sum and its norm.
///
/// The sum is stored as `T`, and the stored sum is normalised: the results have the same bits as those of
/// [`add`](crate::ops::add) and [`rms_norm_with_statistics`]. For the backward pass, pass the sum as the operand.
///
/// # Shapes
/// As [`rms_norm`]; `residual` has the shape of `x`.
/// # Errors
/// As [`rms_norm`], and [`Error::Shape`] if the residual has another shape.
/// # Precision
/// As [`rms_norm`].
pub fn rms_norm_residual<T: Real>(
    x: &Tensor<T>,
    residual: &Tensor<T>,
    norm: RmsNorm<'_, T>,
) -> Result<(Tensor<T>, RmsNormed<T>)> {
    let op = "rms_norm_residual";
    call(op, || {
        let (total, normed) =
            normed(op, norm.rows(op).forward(x, Some(residual), NormPass::ForwardWithStatistics)?)?;
        Ok((total.ok_or_else(|| missing(op))?, normed))
    })
}

/// The backward pass of [`rms_norm`] (vector-Jacobian product): the gradients of a loss with respect to `x` and gamma, from its
/// gradient `grad` with respect to the result. `normed` is the result of the forward pass, and `norm` its parameters.
///
/// With $\hat x = x / \sqrt{q + \varepsilon}$, $g$ the gradient times gamma, and means over a row, the gradient of `x` is
/// $(g - \hat x\\,\overline{g \hat x}) / \sqrt{q + \varepsilon}$.
///
/// # Shapes
/// As [`rms_norm`]; `grad` has the shape of `x`. The gradient of gamma is f32, in its shape.
/// # Errors
/// As [`rms_norm`], and [`Error::Shape`] if the gradient or the statistic has another shape than in the forward pass.
/// # Precision
/// Computed in f32 in a fixed order, then stored: [`reference::rms_norm_backward`](crate::reference::rms_norm_backward).
/// # Launches
/// As [`layer_norm_backward`](super::layer_norm_backward).
pub fn rms_norm_backward<T: Real>(
    x: &Tensor<T>,
    normed: &RmsNormed<T>,
    norm: RmsNorm<'_, T>,
    grad: &Tensor<T>,
) -> Result<NormGradients<T>> {
    let op = "rms_norm_backward";
    call(op, || norm.rows(op).backward(x, &[("rstd", &normed.rstd)], grad))
}

impl<'a, T: Real> RmsNorm<'a, T> {
    fn rows(&self, op: &'static str) -> RowNorm<'a, T> {
        let Self { axes, gamma, eps } = *self;
        RowNorm { op, kind: NormKind::Rms, axes, gamma, beta: None, eps }
    }
}

/// The results with the statistic.
fn normed<T: Real>(op: &'static str, results: RowResults<T>) -> Result<(Option<Tensor<T>>, RmsNormed<T>)> {
    let RowResults { y, total, statistics } = results;
    let [rstd] = statistics.try_into().map_err(|_| missing(op))?;
    Ok((total, RmsNormed { y, rstd }))
}

fn missing(op: &'static str) -> Error {
    Error::device(format!("{op}: a result is missing"))
}
