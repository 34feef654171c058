//! What truncated singular value decompositions leave of a weight, for every rank at once.

use super::factor::{Rsvd, Svd};
use crate::Result;
use crate::tensor::Tensor;

/// Power iterations and further columns of a decomposition that is kept. The spectra of trained weights fall slowly:
/// with two and ten, as elsewhere, the error is 3 per cent above the least, which takes 8 per cent more rank.
const POWER: usize = 4;
const OVERSAMPLING: usize = 32;

/// The first `pairs` singular values and vectors of a weight, close to the best: an error within half a per cent of the
/// least in the tests.
///
/// # Errors
/// As [`Rsvd::run`].
pub(crate) fn decomposed(weight: &Tensor<f32>, pairs: usize) -> Result<Svd> {
    Rsvd::new(weight).rank(pairs).power(POWER).oversampling(OVERSAMPLING).run()
}

/// How [`decomposed`] does it: of other words the results are others.
#[cfg(feature = "safetensors")]
pub(crate) fn method() -> String {
    format!("rsvd, {POWER} power iterations, oversampling {OVERSAMPLING}, seed 0")
}

/// What is left of a weight by the first of its singular values and vectors.
#[derive(Clone, Debug)]
pub(crate) struct Spectrum {
    /// The square of what is left by so many pairs.
    left: Vec<f64>,
}

impl Spectrum {
    /// Of the singular values that were found, and the norm of what they leave.
    pub(crate) fn new(s: &[f64], residual: f64) -> Self {
        let mut left = vec![residual * residual];
        for s in s.iter().rev() {
            left.push(left[left.len() - 1] + s * s);
        }
        left.reverse();
        Self { left }
    }

    /// The square of the relative error of a layer of one term of this rank, which has twice as many pairs. What a
    /// weight of zeros is left of is 0.
    pub(crate) fn squared_error(&self, rank: usize) -> f64 {
        let pairs = (2 * rank).min(self.left.len() - 1);
        if self.left[0] > 0.0 { self.left[pairs] / self.left[0] } else { 0.0 }
    }

    /// The relative error, $\|W - W'\|_F / \|W\|_F$.
    pub(crate) fn error(&self, rank: usize) -> f64 {
        self.squared_error(rank).sqrt()
    }
}
