//! How the candidates of an attention are tried: the operands, and the bounds of the results.

use super::problem::{AttentionProblem, AttentionStatistics};
use crate::layout::DType;
use crate::plan::{Plan, Scalar, Tolerance, Trial, TrialRun, TrialValues};

/// Unit roundoff of f32.
const U: f64 = 1.0 / (1 << 23) as f64;
/// The scale times the root of the head dim. Scores of operands in $[-1, 1)$ then have a standard deviation of 1. So weights
/// differ, but none is so small that its loss would not be noticed.
const SHARP: f64 = 3.0;
/// The largest distance of a score to the largest score of its row that has an effect: exponentials of larger distances are
/// 0 in f32.
const DISTANCE: f64 = 105.0;
/// The largest magnitude that a bias or a slope adds to a score.
const ADDED: u32 = 8;
/// The average number of nonzero values of a column among the keys that a query attends.
const SEEN: u32 = 8;
/// These values.
const HEIGHT: i32 = 64;

impl AttentionProblem {
    /// The trial against the plan of the plain kernel. Queries and keys are in $[-1, 1)$; values are not negative, so that the errors of
    /// weights are relative to the results.
    ///
    /// In the first run most values are 0, so rounding errors are small and a lost key is a large share of some result. Its keys
    /// are masked at random. In the second run, in which candidates are timed, all keys are attended.
    pub(super) fn trial_against(&self, reference: Plan) -> Trial {
        let keys = i32::try_from(self.dims().keys).unwrap_or(i32::MAX);
        let attended = self.attended();
        // A bound of the distances that are multiplied by slopes.
        let longest = self.dims().queries.max(self.dims().keys);
        let run = |[lengths, keep, values]: [TrialValues; 3], sum: ValueSum| {
            let operands = reference.parameters().iter().map(|parameter| match parameter.name {
                "the values" => values,
                "the key lengths" => lengths,
                "the mask of keys" => keep,
                "the slopes" => TrialValues::Fraction(longest.div_ceil(ADDED)),
                _ => TrialValues::Signed,
            });
            TrialRun { values: operands.collect(), tolerances: self.trial_tolerances(sum) }
        };
        let few = [
            TrialValues::Between(keys.div_euclid(2).max(1), keys),
            TrialValues::Between(0, 1),
            TrialValues::Spikes { one_in: (attended / SEEN).max(1), height: HEIGHT },
        ];
        let all = [TrialValues::Each(keys), TrialValues::Each(1), TrialValues::Positive];
        let runs = vec![
            // Five times the average number.
            run(few, ValueSum { terms: attended.min(5 * SEEN), largest: f64::from(HEIGHT) }),
            run(all, ValueSum { terms: attended, largest: 1.0 }),
        ];
        #[expect(clippy::cast_possible_truncation, reason = "the scale is rounded to f32")]
        let scale = self.trial_scale() as f32;
        Trial { description: self.to_string(), reference, scalars: vec![Scalar::F32(scale)], runs }
    }

    /// The largest number of keys that a query attends.
    fn attended(&self) -> u32 {
        let range = i64::from(self.dims().upper) - i64::from(self.dims().lower) + 1;
        u32::try_from(range.max(1)).unwrap_or(u32::MAX).min(self.dims().keys)
    }

    fn trial_scale(&self) -> f64 {
        SHARP / f64::from(self.dims().dim).sqrt()
    }

    /// The bounds of `reference::AttentionReference` for these operands: for the result, and for the largest scores and logarithms
    /// of the sums.
    fn trial_tolerances(&self, values: ValueSum) -> Vec<Tolerance> {
        let (dim, keys) = (f64::from(self.dims().dim), f64::from(self.attended()));
        let largest_score = dim * self.trial_scale() + f64::from(ADDED) + 1.0;
        let of_score = (dim + 2.0) * U * dim * self.trial_scale() + 6.0 * U * largest_score;
        let of_exponential = (DISTANCE + 28.0) * U + of_score;
        let of_sums = (12.0 * keys + 80.0) * U + of_exponential;
        let [weights, stored, least, of_weight] = match self.dtype {
            DType::F16 => [2f64.powi(-9), 2f64.powi(-10), 2f64.powi(-14), 2f64.powi(-24)],
            // Weights may be rounded to bf16, on matrices of flexible size.
            DType::Bf16 => [2f64.powi(-6), 2f64.powi(-8), 2f64.powi(-125), 2f64.powi(-125)],
            _ => [0.0, 0.0, 2f64.powi(-125), 2f64.powi(-125)],
        };
        let of_result = Tolerance {
            relative: 2.0 * (of_exponential + of_sums + stored) + weights,
            absolute: 2.0 * (f64::from(values.terms) * values.largest * of_weight + least),
        };
        let rounded = U * (6.0 * largest_score + 13.0 * keys.ln());
        // The absolute error of the logarithm of a sum is the relative error of the sum.
        let of_sum = Tolerance { relative: 0.0, absolute: 2.0 * (2.0 * of_sums + of_score + rounded) };
        match self.statistics {
            AttentionStatistics::None => vec![of_result],
            AttentionStatistics::LogSums => vec![of_result, of_sum],
        }
    }
}

/// The values that a query sums.
#[derive(Clone, Copy)]
struct ValueSum {
    /// The number of nonzero values.
    terms: u32,
    largest: f64,
}

/// `attention 2x8 heads, 100 queries, 120 keys of 64, f16`.
impl std::fmt::Display for AttentionProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let d = self.dims();
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
