//! Error bounds of sums in floating point.

use crate::gemm::Accumulator;
use crate::layout::DType;

/// Unit roundoff of an f32 sum. Not $2^{-24}$: a driver may truncate instead of rounding.
pub(super) const U: f64 = 1.0 / (1 << 23) as f64;
/// Unit roundoff of an f16 sum, for the same reason.
const U_F16: f64 = 1.0 / (1 << 10) as f64;

/// The largest number of products that are summed in f16 if the accumulator allows it ([`Accumulator::F16`]). Longer sums are
/// in f32.
pub const MAX_F16_PRODUCTS: usize = 16;

/// The relative error of a sum of `k` products in f32: $\gamma_{k} = k u / (1 - k u)$ with $u = 2^{-23}$ (Higham,
/// *Accuracy and Stability of Numerical Algorithms*, section 3.1). It multiplies $|A||B|$, not $|AB|$.
#[must_use]
pub fn gamma(k: usize) -> f64 {
    gamma_of(k, U)
}

/// The relative error of a sum of `k` products with the accumulator [`Accumulator::F16`]: sums of at most $b = \min(k, 16)$
/// products are in f16, and these are added in f32. With $\gamma_{b}$ of the f16 sums ($u = 2^{-10}$) and $\gamma_{k}$ of the f32
/// sum ($u = 2^{-23}$) it is $\gamma'\_{k} = \gamma_{b} + \gamma_{k} + \gamma_{b} \gamma_{k}$: a term has an error factor of at
/// most $1 + \gamma_{b}$, and then, because f16 sums are exact in f32, one of at most $1 + \gamma_{k}$.
#[must_use]
pub fn gamma_f16(k: usize) -> f64 {
    let [short, whole] = [gamma_of(k.min(MAX_F16_PRODUCTS), U_F16), gamma(k)];
    short + whole + short * whole
}

fn gamma_of(k: usize, u: f64) -> f64 {
    let ku = k as f64 * u;
    if ku < 1.0 { ku / (1.0 - ku) } else { f64::INFINITY }
}

/// The largest error of a sum of `k` products. `magnitude` is the sum of their absolute values, $(|A||B|)\_{ij}$. The bound is
/// $\gamma_{k} (|A||B|)\_{ij} + k 2^{-126}$; the second term is for products that a driver flushes to zero.
///
/// With [`Accumulator::F16`] it is $\gamma'\_{k} (|A||B|)\_{ij} + (1 + \gamma'\_{k})\\,k 2^{-13}$ with $\gamma'$ of
/// [`gamma_f16`]: a product and a sum below the smallest normal f16, $2^{-14}$, may both be flushed, and later roundings
/// amplify that loss. This bound holds as long as no product and no sum in f16 exceeds 65,504.
#[must_use]
pub fn sum_tolerance(k: usize, magnitude: f64, accumulator: Accumulator) -> f64 {
    match accumulator {
        Accumulator::F32 => gamma(k) * magnitude + k as f64 * 2f64.powi(-126),
        Accumulator::F16 => gamma_f16(k) * magnitude + (1.0 + gamma_f16(k)) * k as f64 * 2f64.powi(-13),
    }
}

/// The largest error of a stored element of a product of inner size `k`, accumulated in f32: [`sum_tolerance`] plus
/// [`store_tolerance`]. `value` is the element by definition, and `magnitude` is $(|A||B|)\_{ij}$.
#[must_use]
pub fn tolerance(k: usize, magnitude: f64, value: f64, stored: DType) -> f64 {
    sum_tolerance(k, magnitude, Accumulator::F32) + store_tolerance(value, stored)
}

/// The largest error of storing a sum: 0 for f32 and i32; $2^{-10} |c_{ij}| + 2^{-14}$ for f16, because devices promise neither
/// a rounding mode nor subnormals; $2^{-8} |c_{ij}| + 2^{-126}$ for bf16, $2^{-4} |c_{ij}| + 2^{-10}$ for e4m3 and
/// $2^{-3} |c_{ij}| + 2^{-17}$ for e5m2, which integer code rounds to the nearest.
#[must_use]
pub fn store_tolerance(value: f64, stored: DType) -> f64 {
    match stored {
        DType::F32 | DType::I8 | DType::I32 => 0.0,
        DType::Bf16 => 2f64.powi(-8) * value.abs() + 2f64.powi(-126),
        DType::F16 => 2f64.powi(-10) * value.abs() + 2f64.powi(-14),
        DType::F8E4M3 => 2f64.powi(-4) * value.abs() + 2f64.powi(-10),
        DType::F8E5M2 => 2f64.powi(-3) * value.abs() + 2f64.powi(-17),
    }
}

/// The comparison of results with their definitions.
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

/// Compares results with their definitions. Each item is (result, definition, tolerance). The error of a NaN is infinite.
#[must_use]
pub fn compare(results: impl IntoIterator<Item = (f64, f64, f64)>) -> Comparison {
    let mut comparison = Comparison { max_abs_err: 0.0, bound_ratio: 0.0, worst: 0 };
    for (i, (got, want, tolerance)) in results.into_iter().enumerate() {
        let error = (got - want).abs();
        let error = if error.is_nan() { f64::INFINITY } else { error };
        // 0 for exact results with any tolerance; infinite for other results if the tolerance is 0, negative or NaN.
        let ratio = if error == 0.0 { 0.0 } else { error / tolerance };
        let ratio = if ratio >= 0.0 { ratio } else { f64::INFINITY };
        comparison.max_abs_err = comparison.max_abs_err.max(error);
        if ratio > comparison.bound_ratio {
            (comparison.bound_ratio, comparison.worst) = (ratio, i);
        }
    }
    comparison
}
