//! The error of a truncated singular value decomposition of a weight, for every rank at once.

use crate::Result;
use crate::sketch::factor::{Rsvd, Svd};
use crate::tensor::Tensor;

/// Power iterations and oversampling of the decomposition. The spectra of trained weights fall slowly, so an error
/// above the least possible one would require a larger rank. Many of the weight's singular values are computed, so the
/// spaces of three iterations already span much of it, more with larger blocks.
const POWER: usize = 3;
const BLOCK: usize = 128;
const OVERSAMPLING: usize = 32;

/// The first `pairs` singular values and vectors of a weight. The error of the truncation is within half a per cent of
/// the least in the tests.
///
/// # Errors
/// As for [`Rsvd::run`].
pub(crate) fn decompose(weight: &Tensor<f32>, pairs: usize) -> Result<Svd> {
    Rsvd::new(weight).rank(pairs).power(POWER).oversampling(OVERSAMPLING).block(BLOCK).run()
}

/// The method of [`decompose`] in words. Factors that were cached with another text are computed again.
#[cfg(feature = "safetensors")]
pub(crate) fn method() -> String {
    format!("rsvd, {POWER} power iterations, oversampling {OVERSAMPLING}, blocks of {BLOCK}, seed 0")
}

/// The residuals of a weight after its first singular pairs.
#[derive(Clone, Debug)]
pub(crate) struct Spectrum {
    /// The square of the residual norm after 0, 1, 2, ... pairs.
    residuals: Vec<f64>,
}

impl Spectrum {
    /// From singular values and the norm of the residual after all of them.
    pub(crate) fn new(s: &[f64], residual: f64) -> Self {
        let mut residuals = vec![residual * residual];
        for s in s.iter().rev() {
            residuals.push(residuals[residuals.len() - 1] + s * s);
        }
        residuals.reverse();
        Self { residuals }
    }

    /// The square of the relative error of a layer with one term of this rank, which holds twice as many pairs. It is 0
    /// for a weight of zeros.
    pub(crate) fn squared_error(&self, rank: usize) -> f64 {
        let pairs = (2 * rank).min(self.residuals.len() - 1);
        if self.residuals[0] > 0.0 { self.residuals[pairs] / self.residuals[0] } else { 0.0 }
    }

    /// The relative error, $\\|W - W'\\|\_F / \\|W\\|\_F$.
    pub(crate) fn error(&self, rank: usize) -> f64 {
        self.squared_error(rank).sqrt()
    }
}
