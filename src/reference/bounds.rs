//! How far a sum in f32 may be from its definition.

use crate::tensor::DType;

/// Unit roundoff of an f32 sum. Not $2^{-24}$: a driver may truncate instead of rounding.
const U: f64 = 1.0 / (1 << 23) as f64;

/// The relative error of a sum of `k` products in f32: $\gamma_{k} = k u / (1 - k u)$ with $u = 2^{-23}$ (Higham,
/// *Accuracy and Stability of Numerical Algorithms*, section 3.1). It multiplies $|A||B|$, not $|AB|$.
#[must_use]
pub fn gamma(k: usize) -> f64 {
    let ku = k as f64 * U;
    if ku < 1.0 { ku / (1.0 - ku) } else { f64::INFINITY }
}

/// How far element c of a product of inner size `k` may be from its definition `value`, where `magnitude` is
/// $(|A||B|)_{ij}$: $\gamma_{k} (|A||B|)_{ij} + k 2^{-126}$, the second term for products that a driver flushes to zero;
/// for f16 results $2^{-10} |c_{ij}| + 2^{-14}$ more, as neither rounding nor subnormals are promised.
#[must_use]
pub fn tolerance(k: usize, magnitude: f64, value: f64, stored: DType) -> f64 {
    let sum = gamma(k) * magnitude + k as f64 * 2f64.powi(-126);
    match stored {
        DType::F32 => sum,
        DType::F16 => sum + 2f64.powi(-10) * value.abs() + 2f64.powi(-14),
    }
}

/// How results compare with their definition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The largest $|c - c_{64}|$.
    pub max_abs_err: f64,
    /// The largest error over its tolerance; 0 where every result is exact.
    pub bound_ratio: f64,
    /// The index of the result with that ratio.
    pub worst: usize,
}

impl Comparison {
    /// Whether every result is within its tolerance. NaN is not.
    #[must_use]
    pub fn ok(&self) -> bool {
        self.bound_ratio <= 1.0
    }
}

/// Compares results with their definitions, each within its own tolerance: (result, definition, tolerance).
/// A NaN compares as infinitely wrong.
#[must_use]
pub fn compare(results: impl IntoIterator<Item = (f64, f64, f64)>) -> Comparison {
    let mut comparison = Comparison { max_abs_err: 0.0, bound_ratio: 0.0, worst: 0 };
    for (i, (got, want, tolerance)) in results.into_iter().enumerate() {
        let error = (got - want).abs();
        let error = if error.is_nan() { f64::INFINITY } else { error };
        // 0 where exact, whatever the tolerance; infinite where there is none, or it is not a number.
        let ratio = if error == 0.0 { 0.0 } else { error / tolerance };
        let ratio = if ratio.is_nan() { f64::INFINITY } else { ratio };
        comparison.max_abs_err = comparison.max_abs_err.max(error);
        if ratio > comparison.bound_ratio {
            (comparison.bound_ratio, comparison.worst) = (ratio, i);
        }
    }
    comparison
}
