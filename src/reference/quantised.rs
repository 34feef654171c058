//! Quantised products by definition, and the error bound of a kernel.

use super::elements::U;
use super::epilogue::EpilogueReference;
use crate::ops::Activation;

/// Numbers below this may be flushed to zero.
const LEAST: f64 = f32::MIN_POSITIVE as f64;
/// Integers up to this are exact in f32.
const EXACT: f64 = (1 << 24) as f64;

/// The epilogue of one element of a product of 8 bits: activation($\alpha r c s + b$) + $d$, where $s$ is the sum over k.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuantisedReference {
    /// $\alpha$.
    pub alpha: f64,
    /// $r$: the scale of the row.
    pub row_scale: f64,
    /// $c$: the scale of the column.
    pub column_scale: f64,
    /// $b$.
    pub bias: f64,
    /// The activation.
    pub activation: Activation,
    /// $d$: the residual.
    pub residual: f64,
}

impl Default for QuantisedReference {
    /// The sum unchanged.
    fn default() -> Self {
        let [bias, residual] = [0.0; 2];
        Self { alpha: 1.0, row_scale: 1.0, column_scale: 1.0, bias, activation: Activation::None, residual }
    }
}

impl QuantisedReference {
    /// The element's value, and a bound on the error of a kernel that computes it in f32, before it is stored. The kernel's sum is
    /// within `off` of `sum`: 0 for operands of i8, [`sum_tolerance`](super::sum_tolerance) for others.
    ///
    /// An exact sum is rounded once if it is above $2^{24}$, and each of three products once more: with $u = 2^{-23}$, $d$ for
    /// `off` and $p$ the largest absolute value of a product of some of the other factors, the scaled sum is within
    /// $|\alpha r c| d + 4 u\\,|\alpha r c| (|s| + d) + 8 p\\,2^{-126}$ of $\alpha r c s$, in whatever order they are multiplied; the last term is
    /// for factors and products that a driver flushes. From there on it is that of [`EpilogueReference::apply`]. There is no bound
    /// if an intermediate product leaves the range of f32.
    #[must_use]
    pub fn apply(&self, sum: f64, off: f64) -> (f64, f64) {
        let Self { alpha, row_scale, column_scale, bias, activation, residual } = *self;
        let of = |sum: f64| [sum, row_scale, column_scale, alpha];
        // In this order the product is NaN only if a factor is NaN.
        let scaled = of(sum).iter().product::<f64>();
        let moved = if off == 0.0 { 0.0 } else { of(off).iter().product::<f64>().abs() };
        let largest: f64 = of(sum.abs() + off).iter().map(|factor| factor.abs().max(1.0)).product();
        let rounded = if sum.abs() > EXACT { 4.0 } else { 3.0 };
        let off = moved + rounded * U * (scaled.abs() + moved) + 8.0 * largest * LEAST;
        EpilogueReference { bias, residual, activation, ..EpilogueReference::default() }.apply(scaled, off)
    }

    /// The range of i8 that a kernel may store for it: the least and the largest integer to which results within the
    /// bound [requantise](requantise).
    #[must_use]
    pub fn requantised(&self, sum: f64, out_scale: f32) -> [i8; 2] {
        let (value, off) = self.apply(sum, 0.0);
        if value.is_nan() || value.is_infinite() {
            return [requantise(value, out_scale); 2];
        }
        [value - off, value + off].map(|end| requantise(end, out_scale))
    }
}

/// The integer from -128 to 127 that is nearest to `value / out_scale`, ties to even. NaN becomes 0. For values of f32 the result
/// is that of the exact quotient: no quotient of two f32 is so close to the middle of two integers that its rounding to f64 would
/// matter.
#[must_use]
pub fn requantise(value: f64, out_scale: f32) -> i8 {
    #[expect(clippy::cast_possible_truncation, reason = "saturation is the contract")]
    let nearest = (value / f64::from(out_scale)).round_ties_even() as i8;
    nearest
}
