//! Products of f32 operands by f16 splits: the splits by definition, and the error bounds of the products.

use super::bounds::{gamma, sum_tolerance};
use crate::gemm::{Accumulator, NON_FINITE_EXPONENT};
use crate::layout::{Element, Precision};
use half::f16;

/// The largest error of a product of f32 operands of inner size `k` (up to $2^{22}$) in this [`Precision`]. `magnitude` is
/// $(|A||B|)\_{ij}$, and `largest` is $\alpha_{i} \beta_{j}$, the product of the largest finite magnitudes of row i of A and
/// column j of B. With $u = 2^{-11}$, $\tau = 2^{-23}$ and $S$ a sum of absolute
/// values:
///
/// **Sums.** Adding $n$ numbers in f32, in any order, every result one of the two neighbours of the exact one, errs by at
/// most $(n - 1) \tau S$ if $(n - 1) \tau \le 1/2$. Let $2^E \le S < 2^{E+1}$. As long as partial sums stay below
/// $2^{E+1}$, each of the $n - 1$ additions errs by at most $\tau 2^E \le \tau S$. For one to reach $2^{E+1}$, $j$
/// additions below it have erred by $j \tau 2^E \ge 2^{E+1} - S$ in all, which makes
/// $\tau 2^{E+1} (n - 1 - j/2) \le \tau S (n - 1 - j/2) / (1 - j \tau / 2) \le (n - 1) \tau S$. (With more terms
/// the classical $(1 + \tau)^{n-1} - 1$ takes its place below; $\gamma_{k}$ is well above it by then.) Products of f16 are
/// exact in f32.
///
/// **`Fast`.** In scaled units $x = 2^{e_{i}} a$, $y = 2^{f_{j}} b$, with largest $X, Y \in [2^{14}, 2^{15})$. An entry of
/// at least $2^{-14}$ is rounded to $\hat x = x (1 + \delta)$, $|\delta| \le u / (1 + u)$, so that a product errs by
/// $\theta |x y|$ at most with
/// $$ \theta = \left(\frac{1 + 2u}{1 + u}\right)^2 - 1 = 2u - u^2 + \frac{u^4}{(1 + u)^2}. $$
/// Their sum errs by $(k - 1) \tau (1 + \theta)$ times their magnitude: all in all by
/// $\theta + (k - 1) \tau + k \tau \theta \le 2u + k \tau + (k \tau)^2 \le 2u + \gamma_{k}$, because of
/// $2u \cdot k \tau \le u^2 + (k \tau)^2$. Any other nonzero entry becomes $\pm 2^{-14}$: its product and the exact one
/// have the same sign and both are below $2^{-14} (1 + u) Y \le 2^{-28} (1 + u) X Y$, so that it errs by no more,
/// and by less than $2^{-27} X Y$ with what summing adds to it:
/// $$ (2^{-10} + \gamma_{k}) (|A||B|)\_{ij} + 2^{-27} k\\,\alpha_{i} \beta_{j}. $$
///
/// **`Split`.** $x = h + l + d$, with $h$ the f16 above and $2^{11} l$ the f16 nearest to $2^{11} (x - h)$. For
/// $|x| \ge 2^{-14}$: $|l| \le u |x|$, and $|d| \le 2^{-23} |x|$, as $x - h$ has 12 bits; else
/// $|h| = 2^{-14}$, $|l| \le 2^{-14}$ and $|d| \le 2^{-26}$. In both cases $2^{11} l$ may be subnormal in f16 and flushed
/// by the device: then $|d| < (1 - u) 2^{-25}$. What is summed lacks
/// $$ x y - (h_{x} h_{y} + h_{x} l_{y} + l_{x} h_{y}) = d_{x} y + (x - d_{x}) d_{y} + l_{x} l_{y}: $$
/// at most $(2^{-23} + 2^{-23} + 2^{-22}) (1 + u) |x y| + (1 - u / 2) 2^{-25} (|x| + |y|)$ if both are at least $2^{-14}$; with
/// $|x| < 2^{-14}$ at most $|y| (2^{-26} + 2^{-25} + 2^{-37}) + 2^{-39}$, or $|y| (2^{-25} + 2^{-37}) + 2^{-39}$ if
/// $l_{x}$ is flushed; $2^{-27}$ if $y$ is as small. As $X, Y \ge 2^{14}$, that is below
/// $2^{-20} |x y| + 2^{-38} X Y$ in any case. Sums: of $h_{x} h_{y}$, $(k - 1) \tau (1 + u)^2 |x y|$; of the cross terms,
/// $(2k - 1) \tau \cdot 2u (1 + u) |x y|$; adding both, $\tau$: less than $1.01\\,\gamma_{k+2}$ together. The terms of an
/// entry below $2^{-14}$ are no larger than $(1 + u) 2^{-28} X Y$ in either sum, which is not small compared with $|x y|$: they
/// add $3 k \tau (1 + 2u) 2^{-28} X Y \le 2^{-26} \gamma_{k} X Y$.
/// $$ (2^{-20} + 1.01\\,\gamma_{k+2}) (|A||B|)\_{ij} + (2^{-38} + 2^{-26} \gamma_{k})\\, k\\,\alpha_{i} \beta_{j}. $$
///
/// Undoing the scaling is exact, except that results below $2^{-126}$ may be flushed. For `Strict` the bound is
/// [`sum_tolerance`].
#[must_use]
pub fn precision_tolerance(precision: Precision, k: usize, magnitude: f64, largest: f64) -> f64 {
    let terms = k as f64 * largest;
    match precision {
        Precision::Strict => sum_tolerance(k, magnitude, Accumulator::F32),
        Precision::Fast => (2f64.powi(-10) + gamma(k)) * magnitude + 2f64.powi(-27) * terms + 2f64.powi(-126),
        Precision::Split => {
            let whole = 2f64.powi(-20) + 1.01 * gamma(k + 2);
            whole * magnitude + (2f64.powi(-38) + 2f64.powi(-26) * gamma(k)) * terms + 2f64.powi(-126)
        }
    }
}

/// The f16 split of rows of f32, by definition: the result of [`f16_split`](crate::planning::gemm::f16_split) on a device.
#[derive(Clone, Debug, PartialEq)]
pub struct F16SplitReference {
    /// The high halves.
    pub hi: Vec<f16>,
    /// The low halves, times $2^{11}$; zeros for [`Precision::Fast`].
    pub lo: Vec<f16>,
    /// The exponent of each row's scale; [`NON_FINITE_EXPONENT`] for a row with an infinity or a NaN.
    pub exponents: Vec<i32>,
}

/// The f16 split of rows of `k` elements.
///
/// A row is scaled by $2^e$ so that its largest finite magnitude is in $[2^{14}, 2^{15})$; a row of zeros, infinities and NaN
/// is not scaled. The high half of an element x of the scaled row is the nearest f16, ties to even. If x is not zero but
/// smaller than the least normal f16, it is $\pm 2^{-14}$: its product with an infinity is then an infinity, and no device
/// flushes it. The low half is the f16 nearest to $2^{11}$ times the rest; for an infinity or a NaN it is 0.
///
/// # Panics
/// If `k` is 0, or the length of `x` is not a multiple of `k`.
#[must_use]
pub fn f16_split(x: &[f32], k: usize, precision: Precision) -> F16SplitReference {
    assert!(k > 0 && x.len().is_multiple_of(k), "x must consist of whole rows of k elements");
    let mut split = F16SplitReference { hi: Vec::new(), lo: Vec::new(), exponents: Vec::new() };
    for row in x.chunks(k) {
        let largest = largest_finite(row.iter().map(|&x| f64::from(x)));
        let exponent = if largest == 0.0 { 0 } else { 14 - binade(largest) };
        for &x in row {
            let [hi, lo] = high_and_low(f64::from(x) * 2f64.powi(exponent), precision);
            split.hi.push(hi);
            split.lo.push(lo);
        }
        let finite = row.iter().all(|x| x.is_finite());
        split.exponents.push(if finite { exponent } else { NON_FINITE_EXPONENT });
    }
    split
}

/// The largest finite magnitude of a row, which determines its scale and its bound; 0 for a row without one.
pub(super) fn largest_finite(row: impl Iterator<Item = f64>) -> f64 {
    row.map(f64::abs).filter(|x| x.is_finite()).fold(0.0, f64::max)
}

/// The high and the low half of an element of a scaled row.
fn high_and_low(x: f64, precision: Precision) -> [f16; 2] {
    if x.is_nan() || x.is_infinite() {
        return [
            if x.is_nan() {
                f16::NAN.copysign(<f16 as Element>::from_f64(x))
            } else {
                <f16 as Element>::from_f64(x)
            },
            f16::ZERO,
        ];
    }
    let least = 2f64.powi(-14).copysign(x);
    let hi = if x == 0.0 || x.abs() >= least.abs() {
        <f16 as Element>::from_f64(x)
    } else {
        <f16 as Element>::from_f64(least)
    };
    let lo = match precision {
        Precision::Split => <f16 as Element>::from_f64((x - hi.to_f64()) * 2f64.powi(11)),
        Precision::Strict | Precision::Fast => f16::ZERO,
    };
    [hi, if x == 0.0 { f16::ZERO } else { lo }]
}

/// E with $2^E \le |x| < 2^{E+1}$, for a normal f64; -1023 for 0.
fn binade(x: f64) -> i32 {
    i32::try_from(x.to_bits() >> 52 & 0x7ff).unwrap_or(0) - 1023
}
