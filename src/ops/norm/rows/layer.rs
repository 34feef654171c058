//! Layer norm.

use super::problem::{NormKind, NormPass};
use super::run::{RowNorm, RowResults};
use crate::error::call;
use crate::layout::Real;
use crate::ops::norm::results::NormGradients;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// The parameters of a layer norm. `LayerNorm::default()` normalises the last axis with $\varepsilon = 10^{-5}$, without gamma
/// and beta.
#[derive(Clone, Copy, Debug)]
pub struct LayerNorm<'a, T: Real> {
    /// The number of last axes that are normalised together, as one.
    pub axes: usize,
    /// The weights, which multiply the normalised elements: of the shape of the normalised axes.
    pub gamma: Option<&'a Tensor<T>>,
    /// The offsets, which are added afterwards: of the same shape.
    pub beta: Option<&'a Tensor<T>>,
    /// The number $\varepsilon$ that is added to the variance: finite and at least 0.
    pub eps: f32,
}

impl<T: Real> Default for LayerNorm<'_, T> {
    fn default() -> Self {
        Self { axes: 1, gamma: None, beta: None, eps: 1e-5 }
    }
}

/// The result of a layer norm or group norm, and the statistics that its backward pass needs.
#[derive(Clone, Debug)]
pub struct Normed<T: Real> {
    /// The result.
    pub y: Tensor<T>,
    /// The mean of each row, rounded to f32, in the shape of the axes that are not normalised.
    pub mean: Tensor<f32>,
    /// One over the deviation of each row, $1 / \sqrt{v + \varepsilon}$ with the variance $v$.
    pub rstd: Tensor<f32>,
}

/// Layer norm: $y = \gamma (x - m) / \sqrt{v + \varepsilon} + \beta$ with the mean $m$ and the variance $v$ (divided by $n$) of
/// the $n$ elements of a row. The last axis is normalised, or the last few as one.
///
/// A row that contains NaN or infinity becomes NaN. If $\varepsilon = 0$, so does a row of equal elements, as in `PyTorch`.
///
/// # Shapes
/// Any view of 1 to 6 axes; gamma and beta have the shape of the normalised axes. The result has the shape of `x`, row-major. If
/// several axes are normalised and their strides do not allow merging, the operand is copied first.
/// # Errors
/// [`Error::Shape`] if there are no such axes, they are empty, or gamma or beta has another shape; [`Error::Input`] if eps is
/// negative or not finite; [`Error::Gpu`] if operands are on different devices; [`Error::Limit`] if a row exceeds the device's binding
/// size; [`Error::OutOfMemory`] if the result does not fit.
/// # Precision
/// Computed in f32 in a fixed order, then stored: [`reference::layer_norm`](crate::reference::layer_norm). Distances are taken to a
/// point near the mean before they are squared or divided, so the result is accurate even if the mean is large compared with the
/// deviation, as in [`var`](crate::ops::var). Squares of distances are summed in f32. Distances below $2^{-63}$ may count as 0.
/// Squares of distances above about $2^{63}$ overflow: the reciprocal deviation is then 0, and the row is 0, or NaN if distances
/// overflow too. The backward pass does the same.
/// # Launches
/// One. A GPU reads rows of up to 4,096 elements once and longer ones twice, a software device rows of up to 1,024 once.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops::{self, LayerNorm};
///
/// let x = gpu.tensor(&[1.0f32, 3.0, 1002.0, 998.0], [2, 2])?;
/// let gamma = gpu.tensor(&[1.0f32, 10.0], [2])?;
/// let y = ops::layer_norm(&x, LayerNorm { gamma: Some(&gamma), ..LayerNorm::default() })?.to_vec()?;
/// assert!(y.iter().zip([-1.0, 10.0, 1.0, -10.0]).all(|(y, want)| (y - want).abs() < 1e-3));
/// # Ok(())
/// # }
/// ```
pub fn layer_norm<T: Real>(x: &Tensor<T>, norm: LayerNorm<'_, T>) -> Result<Tensor<T>> {
    let op = "layer_norm";
    call(op, || Ok(norm.rows(op).forward(x, None, NormPass::Forward)?.y))
}

/// As [`layer_norm`]; also returns the mean and the reciprocal deviation of each row, which [`layer_norm_backward`]
/// needs.
///
/// # Shapes
/// As [`layer_norm`]. The statistics are f32, in the shape of the axes that are not normalised.
/// # Errors
/// As [`layer_norm`].
/// # Precision
/// As [`layer_norm`].
pub fn layer_norm_with_statistics<T: Real>(x: &Tensor<T>, norm: LayerNorm<'_, T>) -> Result<Normed<T>> {
    let op = "layer_norm_with_statistics";
    call(op, || Ok(normed(op, norm.rows(op).forward(x, None, NormPass::ForwardWithStatistics)?)?.1))
}

/// The layer norm of $x + r$ for a residual $r$, in one launch. Returns the sum and its norm.
///
/// The sum is stored as `T`, and the stored sum is normalised: the results have the same bits as those of
/// [`add`](crate::ops::add) and [`layer_norm_with_statistics`]. For the backward pass, pass the sum as the operand.
///
/// # Shapes
/// As [`layer_norm`]; `residual` has the shape of `x`.
/// # Errors
/// As [`layer_norm`], and [`Error::Shape`] if the residual has another shape.
/// # Precision
/// As [`layer_norm`].
pub fn layer_norm_residual<T: Real>(
    x: &Tensor<T>,
    residual: &Tensor<T>,
    norm: LayerNorm<'_, T>,
) -> Result<(Tensor<T>, Normed<T>)> {
    let op = "layer_norm_residual";
    call(op, || {
        let (total, normed) =
            normed(op, norm.rows(op).forward(x, Some(residual), NormPass::ForwardWithStatistics)?)?;
        Ok((total.ok_or_else(|| missing(op))?, normed))
    })
}

/// The backward pass of [`layer_norm`] (vector-Jacobian product): the gradients of a loss with respect to `x`, gamma and beta,
/// from its gradient `grad` with respect to the result. `normed` is the result of the forward pass, and `norm` its parameters.
///
/// With $\hat x = (x - m) / \sqrt{v + \varepsilon}$, $g$ the gradient times gamma, and means over a row, the gradient of `x` is
/// $(g - \overline{g} - \hat x\\,\overline{g \hat x}) / \sqrt{v + \varepsilon}$.
///
/// # Shapes
/// As [`layer_norm`]; `grad` has the shape of `x`. The gradients of gamma and beta are f32, in their shapes.
/// # Errors
/// As [`layer_norm`], and [`Error::Shape`] if the gradient or a statistic has another shape than in the forward pass.
/// # Precision
/// Computed in f32 in a fixed order, then stored: [`reference::layer_norm_backward`](crate::reference::layer_norm_backward). The
/// rounding error of a large mean in f32 is corrected. Ranges as in [`layer_norm`].
/// # Launches
/// One, which reads `x` and `grad` once (twice if a row does not fit, see [`layer_norm`]). With gamma or beta, a second one
/// adds partial sums in a fixed order.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops::{self, LayerNorm};
///
/// let x = gpu.tensor(&[1.0f32, 3.0, 1002.0, 998.0], [2, 2])?;
/// let beta = gpu.zeros::<f32>([2])?;
/// let norm = LayerNorm { beta: Some(&beta), ..LayerNorm::default() };
/// let normed = ops::layer_norm_with_statistics(&x, norm)?;
/// let grad = gpu.tensor(&[1.0f32, 0.0, 2.0, 0.0], [2, 2])?;
/// let gradients = ops::layer_norm_backward(&x, &normed, norm, &grad)?;
/// assert_eq!(gradients.beta.expect("there is a beta").to_vec()?, [3.0, 0.0]);
/// # Ok(())
/// # }
/// ```
pub fn layer_norm_backward<T: Real>(
    x: &Tensor<T>,
    normed: &Normed<T>,
    norm: LayerNorm<'_, T>,
    grad: &Tensor<T>,
) -> Result<NormGradients<T>> {
    let op = "layer_norm_backward";
    let statistics = [("the mean", &normed.mean), ("rstd", &normed.rstd)];
    call(op, || norm.rows(op).backward(x, &statistics, grad))
}

impl<'a, T: Real> LayerNorm<'a, T> {
    fn rows(&self, op: &'static str) -> RowNorm<'a, T> {
        let Self { axes, gamma, beta, eps } = *self;
        RowNorm { op, kind: NormKind::Layer, axes, gamma, beta, eps }
    }
}

/// The results with statistics.
fn normed<T: Real>(op: &'static str, results: RowResults<T>) -> Result<(Option<Tensor<T>>, Normed<T>)> {
    let RowResults { y, total, statistics } = results;
    let [mean, rstd] = statistics.try_into().map_err(|_| missing(op))?;
    Ok((total, Normed { y, mean, rstd }))
}

fn missing(op: &'static str) -> Error {
    Error::device(format!("{op}: a result is missing"))
}
