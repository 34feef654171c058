//! How far a sum in floating point may be from its definition.

use crate::gemm::Sums;
use crate::layout::DType;

/// Unit roundoff of an f32 sum. Not $2^{-24}$: a driver may truncate instead of rounding.
const U: f64 = 1.0 / (1 << 23) as f64;
/// Unit roundoff of an f16 sum, likewise.
const U_F16: f64 = 1.0 / (1 << 10) as f64;

/// The most products whose sum is in f16 where that is allowed ([`Sums::F16`]); sums of more are in f32.
pub const STEP: usize = 16;

/// The relative error of a sum of `k` products in f32: $\gamma_{k} = k u / (1 - k u)$ with $u = 2^{-23}$ (Higham,
/// *Accuracy and Stability of Numerical Algorithms*, section 3.1). It multiplies $|A||B|$, not $|AB|$.
#[must_use]
pub fn gamma(k: usize) -> f64 {
    gamma_of(k, U)
}

/// The relative error of a sum of `k` products where sums in f16 are allowed: of at most $b = \min(k, 16)$ products
/// each, summed in f32. With $\gamma_{b}$ of the first kind of sum ($u = 2^{-10}$) and $\gamma_{k}$ of the second
/// ($u = 2^{-23}$) it is $\gamma'_{k} = \gamma_{b} + \gamma_{k} + \gamma_{b} \gamma_{k}$: a term is off by a factor
/// of at most $1 + \gamma_{b}$ and then, as f16 sums are exact in f32, by one of at most $1 + \gamma_{k}$.
#[must_use]
pub fn gamma_f16(k: usize) -> f64 {
    let [step, whole] = [gamma_of(k.min(STEP), U_F16), gamma(k)];
    step + whole + step * whole
}

fn gamma_of(k: usize, u: f64) -> f64 {
    let ku = k as f64 * u;
    if ku < 1.0 { ku / (1.0 - ku) } else { f64::INFINITY }
}

/// How far a sum of `k` products may be from its definition, where `magnitude`, $(|A||B|)_{ij}$, is the sum of their
/// absolute values: $\gamma_{k} (|A||B|)_{ij} + k 2^{-126}$, the second term for products that a driver flushes to zero.
///
/// Where sums in f16 are allowed it is $\gamma'_{k} (|A||B|)_{ij} + (1 + \gamma'_{k})\,k 2^{-13}$ with $\gamma'$ of
/// [`gamma_f16`]: a product and a sum below the smallest normal f16, $2^{-14}$, may both be flushed, and what is lost
/// grows by the errors behind it. That holds as long as no product and no sum of f16 is beyond 65,504.
#[must_use]
pub fn sum_tolerance(k: usize, magnitude: f64, sums: Sums) -> f64 {
    match sums {
        Sums::F32 => gamma(k) * magnitude + k as f64 * 2f64.powi(-126),
        Sums::F16 => gamma_f16(k) * magnitude + (1.0 + gamma_f16(k)) * k as f64 * 2f64.powi(-13),
    }
}

/// How far element c of a product of inner size `k`, summed in f32, may be from its definition `value`, where
/// `magnitude` is $(|A||B|)_{ij}$: [`sum_tolerance`], and [`store_tolerance`] as it is stored.
#[must_use]
pub fn tolerance(k: usize, magnitude: f64, value: f64, stored: DType) -> f64 {
    sum_tolerance(k, magnitude, Sums::F32) + store_tolerance(value, stored)
}

/// How far a sum moves as it is stored: not at all in f32 and i32; in f16 by $2^{-10} |c_{ij}| + 2^{-14}$, as neither
/// rounding nor subnormals are promised; in bf16, which is rounded to the nearest in integer code, by
/// $2^{-8} |c_{ij}| + 2^{-126}$.
#[must_use]
pub fn store_tolerance(value: f64, stored: DType) -> f64 {
    match stored {
        DType::F32 | DType::I8 | DType::I32 => 0.0,
        DType::Bf16 => 2f64.powi(-8) * value.abs() + 2f64.powi(-126),
        DType::F16 => 2f64.powi(-10) * value.abs() + 2f64.powi(-14),
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
