//! How the candidates of an attention are tried: the operands, and the bounds of the results.

use super::problem::AttentionProblem;
use crate::layout::DType;
use crate::plan::{Plan, Scalar, Tolerance, Trial, TrialRun, TrialValues};

/// Unit roundoff of f32.
const U: f64 = 1.0 / (1 << 23) as f64;
/// The largest distance of a score to the largest one of its row, for the operands here: products are at most 1, times the
/// scale.
const DISTANCE: f64 = 16.0;

impl AttentionProblem {
    /// The trial whose right results are those of `reference`. Queries and keys are in $[-1, 1)$; values are positive, so that
    /// the errors of weights are relative to the results.
    pub(super) fn trial_by(&self, reference: Plan) -> Trial {
        let values = reference.parameters().iter().map(|parameter| match parameter.name {
            "the values" => TrialValues::Positive,
            "the key lengths" => TrialValues::Each(i32::try_from(self.dims.keys).unwrap_or(i32::MAX)),
            "the mask of keys" => TrialValues::Each(1),
            "the slopes" => TrialValues::Each(0),
            _ => TrialValues::Signed,
        });
        let values = values.collect();
        #[expect(clippy::cast_possible_truncation, reason = "the scale is rounded to f32")]
        let scale = self.trial_scale() as f32;
        let runs = vec![TrialRun { values, tolerance: self.trial_tolerance() }];
        Trial { description: self.to_string(), reference, scalars: vec![Scalar::F32(scale)], runs }
    }

    fn trial_scale(&self) -> f64 {
        1.0 / f64::from(self.dims.dim).sqrt()
    }

    /// The bounds of `reference::AttentionReference` for these operands, twice: of a score, of exponentials, of sums.
    fn trial_tolerance(&self) -> Tolerance {
        let (dim, keys) = (f64::from(self.dims.dim), f64::from(self.dims.keys));
        let of_score = (dim + 2.0) * U * dim * self.trial_scale() + 3.0 * U * (dim.sqrt() + 2.0);
        let of_exponential = (DISTANCE + 28.0) * U + of_score;
        let of_sums = (12.0 * keys + 80.0) * U + of_exponential;
        let [weights, stored, least] = match self.dtype {
            DType::F16 => [2f64.powi(-9), 2f64.powi(-10), 2f64.powi(-14)],
            DType::Bf16 => [0.0, 2f64.powi(-8), 0.0],
            DType::F32 | DType::I8 | DType::I32 => [0.0, 0.0, 0.0],
        };
        let relative = 2.0 * (of_exponential + of_sums + stored) + weights;
        // Logarithms of sums, which can be near 0, are off by as much as the sums relatively.
        let absolute = 2.0 * (2.0 * of_sums + of_score + least + keys * 2f64.powi(-24));
        Tolerance { relative, absolute }
    }
}

/// `attention 2x8 heads, 100 queries, 120 keys of 64, f16`.
impl std::fmt::Display for AttentionProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let d = &self.dims;
        write!(
            f,
            "attention {}x{} heads, {} queries, {} keys of {}",
            d.heads, d.group, d.queries, d.keys, d.dim
        )?;
        if d.dim_v != d.dim {
            write!(f, " and {}", d.dim_v)?;
        }
        write!(f, ", {}", self.dtype)?;
        if self.pin.is_some() {
            f.write_str(", pinned")?;
        }
        self.masks_given().try_for_each(|word| write!(f, ", {word}"))
    }
}
