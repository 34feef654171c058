//! The results of norms.

use crate::layout::Real;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// The result of a layer norm, group norm or instance norm, and the statistics that its backward pass needs.
#[derive(Clone, Debug)]
pub struct Normed<T: Real> {
    /// The result.
    pub y: Tensor<T>,
    /// The mean of each row or group, rounded to f32: in the shape of the axes that are not normalised, or (n, groups).
    pub mean: Tensor<f32>,
    /// One over the deviation, $1 / \sqrt{v + \varepsilon}$ with the variance $v$.
    pub rstd: Tensor<f32>,
}

impl<T: Real> Normed<T> {
    pub(super) fn of(results: NormResults<T>) -> Result<Self> {
        let (y, [mean, rstd]) = results.with_statistics()?;
        Ok(Self { y, mean, rstd })
    }

    /// The statistics by their names in errors.
    pub(super) fn statistics(&self) -> [(&'static str, &Tensor<f32>); 2] {
        [("the mean", &self.mean), ("rstd", &self.rstd)]
    }
}

/// The results of a forward pass.
pub(super) struct NormResults<T: Real> {
    pub(super) y: Tensor<T>,
    /// The operand plus the residual, if there is one.
    pub(super) total: Option<Tensor<T>>,
    pub(super) statistics: Vec<Tensor<f32>>,
}

impl<T: Real> NormResults<T> {
    /// The result with this number of statistics.
    pub(super) fn with_statistics<const N: usize>(self) -> Result<(Tensor<T>, [Tensor<f32>; N])> {
        Ok((self.y, self.statistics.try_into().map_err(|_| missing())?))
    }
}

/// The error of a plan with too few results.
pub(super) fn missing() -> Error {
    Error::device("norm: a result is missing")
}
