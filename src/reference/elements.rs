//! Operations on elements and along an axis, by definition.

use super::activation::{activate as activation_of, activation_slope, activation_tolerance, slope_tolerance};
use super::bounds::{Comparison, compare, gamma, store_tolerance, sum_tolerance};
use crate::gemm::Accumulator;
use crate::layout::Element;
use crate::ops::Activation;

/// The relative error of one operation in f32. Not $2^{-24}$: a driver may truncate instead of rounding.
const U: f64 = 1.0 / (1 << 23) as f64;
/// The smallest normal f32: a driver may flush what is below to zero.
const NORMAL: f64 = 1.0 / (1u128 << 126) as f64;

/// Results by definition, and how far from each one that is computed in f32 may be.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The results in f64.
    pub value: Vec<f64>,
    /// How far an f32 result may be from each, before it is stored.
    pub tolerance: Vec<f64>,
}

impl Definition {
    /// Compares results, one by one, within the tolerance and [`store_tolerance`].
    ///
    /// # Panics
    /// If there are not as many.
    #[must_use]
    pub fn compare<T: Element>(&self, results: &[T]) -> Comparison {
        assert_eq!(results.len(), self.value.len(), "as many results as definitions");
        let defined = self.value.iter().zip(&self.tolerance);
        compare(results.iter().zip(defined).map(|(got, (&value, &tolerance))| {
            // What is stored is what was computed: its rounding may be that of a neighbour.
            let stored = store_tolerance(value.abs() + tolerance, T::DTYPE);
            (got.to_f64(), value, tolerance + stored)
        }))
    }

    fn of(entries: impl Iterator<Item = [f64; 2]>) -> Self {
        let (value, tolerance) = entries.map(|[value, tolerance]| (value, tolerance)).unzip();
        Self { value, tolerance }
    }
}

/// Sums $a + b$ of elements, within $u |a + b| + 3 \cdot 2^{-126}$ with $u = 2^{-23}$: operands and result may be
/// flushed to zero.
///
/// # Panics
/// If the operands differ in length.
#[must_use]
pub fn add<T: Element>(a: &[T], b: &[T]) -> Definition {
    both(a, b, |a, b| [a + b, U * (a + b).abs() + 3.0 * NORMAL])
}

/// Differences $a - b$ of elements, within the tolerance of [`add`].
///
/// # Panics
/// If the operands differ in length.
#[must_use]
pub fn sub<T: Element>(a: &[T], b: &[T]) -> Definition {
    both(a, b, |a, b| [a - b, U * (a - b).abs() + 3.0 * NORMAL])
}

/// Products $ab$ of elements, within $u |ab| + 2^{-126} (1 + |a| + |b|)$ with $u = 2^{-23}$.
///
/// # Panics
/// If the operands differ in length.
#[must_use]
pub fn mul<T: Element>(a: &[T], b: &[T]) -> Definition {
    both(a, b, |a, b| [a * b, U * (a * b).abs() + NORMAL * (1.0 + a.abs() + b.abs())])
}

fn both<T: Element>(a: &[T], b: &[T], entry: impl Fn(f64, f64) -> [f64; 2]) -> Definition {
    assert_eq!(a.len(), b.len(), "operands of one length");
    Definition::of(a.iter().zip(b).map(|(a, b)| entry(a.to_f64(), b.to_f64())))
}

/// An activation of every element, within [`activation_tolerance`].
#[must_use]
pub fn activations<T: Element>(activation: Activation, x: &[T]) -> Definition {
    Definition::of(x.iter().map(|x| {
        let x = x.to_f64();
        [activation_of(activation, x), activation_tolerance(activation, x, 0.0)]
    }))
}

/// What activations hand back, $f'(a)\,g$, within [`slope_tolerance`] times $|g|$ and what [`mul`] adds.
///
/// # Panics
/// If the operands differ in length.
#[must_use]
pub fn activations_backward<T: Element>(activation: Activation, a: &[T], g: &[T]) -> Definition {
    both(a, g, |a, g| {
        let (slope, off) = (activation_slope(activation, a), slope_tolerance(activation, a));
        let product = U * (slope.abs() + off) * g.abs() + NORMAL * (1.0 + slope.abs() + g.abs());
        [slope * g, off * g.abs() + product]
    })
}

/// Sums along the middle one of three axes (outer, length, inner), row-major, within
/// $\gamma_{n} \sum_{i} |a_{i}| + n 2^{-126}$ for length $n$.
///
/// # Panics
/// If there are not as many elements.
#[must_use]
pub fn sum<T: Element>(a: &[T], shape: [usize; 3]) -> Definition {
    Definition::of(along(a, shape).map(|row| {
        let [sum, magnitude] = row.into_iter().fold([0.0, 0.0], |[sum, all], x| [sum + x, all + x.abs()]);
        [sum, sum_tolerance(shape[1], magnitude, Accumulator::F32)]
    }))
}

/// Sums of squares along the middle one of three axes, within
/// $\gamma_{n + 1} \sum_{i} a_{i}^{2} + 2 n 2^{-126}$ for length $n$: squares may be flushed to zero, too.
///
/// # Panics
/// If there are not as many elements.
#[must_use]
pub fn sum_squares<T: Element>(a: &[T], shape: [usize; 3]) -> Definition {
    let length = shape[1];
    Definition::of(along(a, shape).map(|row| {
        let sum: f64 = row.iter().map(|x| x * x).sum();
        [sum, sum_tolerance(length + 1, sum, Accumulator::F32) + length as f64 * NORMAL]
    }))
}

/// Largest magnitudes along the middle one of three axes, exact; NaN where there is one.
///
/// # Panics
/// If there are not as many elements.
#[must_use]
pub fn max_abs<T: Element>(a: &[T], shape: [usize; 3]) -> Definition {
    let larger = |x: f64, y: f64| if x.is_nan() || x > y { x } else { y };
    Definition::of(along(a, shape).map(|row| [row.into_iter().map(f64::abs).fold(0.0, larger), 0.0]))
}

/// The rows along the middle one of three axes.
fn along<T: Element>(a: &[T], [outer, length, inner]: [usize; 3]) -> impl Iterator<Item = Vec<f64>> {
    assert_eq!(a.len(), outer * length * inner, "an operand of another shape");
    (0..outer * inner).map(move |at| {
        (0..length).map(|i| a[(at / inner * length + i) * inner + at % inner].to_f64()).collect()
    })
}

/// Softmax of rows of `length` elements.
///
/// With the distances $d_{i}$ to a row's maximum, at most 105 as what is further has no exponential in f32, and
/// $u = 2^{-23}$: an exponential is off by a factor of at most $1 + (|d_{i}| + 8) u$, for the rounding of $d_{i}$ and
/// for itself; the sum of $n$ by $1 + \gamma_{n} + \sum_{j} p_{j} (|d_{j}| + 8) u$; the division by $1 + 3 u$. A
/// result $p_{i}$ is within $p_{i} \varepsilon / (1 - \varepsilon) + n 2^{-125}$ where $\varepsilon$ is the sum of
/// these, the last term for exponentials and results that are flushed to zero.
///
/// # Panics
/// If the elements are no whole rows.
#[must_use]
pub fn softmax<T: Element>(a: &[T], length: usize) -> Definition {
    assert!(a.len().is_multiple_of(length.max(1)), "whole rows");
    Definition::of(a.chunks(length.max(1)).flat_map(|row| {
        let row: Vec<f64> = row.iter().map(|x| x.to_f64()).collect();
        // NOTE: `max` ignores NaN; the sum does not.
        let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = row.iter().map(|x| (x - top).exp()).sum();
        let exponent = |x: f64| (top - x).min(105.0) + 8.0;
        let common: f64 = row.iter().map(|&x| (x - top).exp() / total * exponent(x)).sum();
        let n = row.len();
        let entry = move |x: f64| {
            let value = (x - top).exp() / total;
            let relative = U * (exponent(x) + common + 3.0) + gamma(n);
            [value, value * relative / (1.0 - relative) + 2.0 * n as f64 * NORMAL]
        };
        row.into_iter().map(entry).collect::<Vec<_>>()
    }))
}
