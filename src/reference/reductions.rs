//! Reductions and cumulative sums, by definition. All are along the middle of three axes of a contiguous tensor: (outer, length, inner).

use super::bounds::{gamma, sum_tolerance};
use super::elements::{Definition, NORMAL, U};
use crate::gemm::Accumulator;
use crate::layout::Element;

/// Sums along the middle axis of a contiguous (outer, length, inner) tensor, within
/// $\gamma_{n} \sum_{i} |a_{i}| + n 2^{-126}$ for length $n$.
///
/// # Panics
/// If the number of elements is not that of the shape.
#[must_use]
pub fn sum<T: Element>(a: &[T], shape: [usize; 3]) -> Definition {
    along(a, shape, sum_of)
}

fn sum_of(row: &[f64]) -> [f64; 2] {
    let [sum, magnitude] = row.iter().fold([0.0, 0.0], |[sum, all], x| [sum + x, all + x.abs()]);
    [sum, sum_tolerance(row.len(), magnitude, Accumulator::F32)]
}

/// Means along the middle of three axes: sums $s$ within the tolerance $t$ of [`sum`], divided by $n$, within
/// $t / n + 4 u (|s| + t) / n + 2^{-126}$ with $u = 2^{-23}$. NaN for length 0.
///
/// # Panics
/// If the number of elements is not that of the shape.
#[must_use]
pub fn mean<T: Element>(a: &[T], shape: [usize; 3]) -> Definition {
    along(a, shape, |row| {
        let ([sum, tolerance], n) = (sum_of(row), row.len() as f64);
        [sum / n, (tolerance + 4.0 * U * (sum.abs() + tolerance)) / n + NORMAL]
    })
}

/// Products along the middle of three axes, within $\gamma_{n} |p| + 2^{-126}$ for length $n$, as long as no product of some of the
/// elements is below $2^{-126}$ or above the largest f32.
///
/// # Panics
/// If the number of elements is not that of the shape.
#[must_use]
pub fn prod<T: Element>(a: &[T], shape: [usize; 3]) -> Definition {
    along(a, shape, |row| {
        let product: f64 = row.iter().product();
        [product, gamma(row.len()) * product.abs() + NORMAL]
    })
}

/// Sums of squares along the middle of three axes, within $\gamma_{n + 1} \sum_{i} a_{i}^{2} + 2 n 2^{-126}$ for length
/// $n$. Squares may be flushed to zero, too.
///
/// # Panics
/// If the number of elements is not that of the shape.
#[must_use]
pub fn sum_squares<T: Element>(a: &[T], shape: [usize; 3]) -> Definition {
    along(a, shape, squares_of)
}

fn squares_of(row: &[f64]) -> [f64; 2] {
    let (sum, n) = (row.iter().map(|x| x * x).sum(), row.len());
    [sum, sum_tolerance(n + 1, sum, Accumulator::F32) + n as f64 * NORMAL]
}

/// Norms along the middle of three axes: the roots of sums $s$ that are within the tolerance $t$ of [`sum_squares`]. With
/// $u = 2^{-23}$ they are within $\sqrt{s} - \sqrt{\max(s - t, 0)} + 8 u \sqrt{s + t}$.
///
/// # Panics
/// If the number of elements is not that of the shape.
#[must_use]
pub fn norm<T: Element>(a: &[T], shape: [usize; 3]) -> Definition {
    along(a, shape, |row| {
        let [sum, tolerance] = squares_of(row);
        let below = sum.sqrt() - (sum - tolerance).max(0.0).sqrt();
        [sum.sqrt(), below + 8.0 * U * (sum + tolerance).sqrt()]
    })
}

/// Largest elements along the middle of three axes, exact; NaN if any element is NaN, minus infinity for length 0.
///
/// # Panics
/// If the number of elements is not that of the shape.
#[must_use]
pub fn max<T: Element>(a: &[T], shape: [usize; 3]) -> Definition {
    along(a, shape, |row| [row.iter().copied().fold(f64::NEG_INFINITY, larger), 0.0])
}

/// Smallest elements along the middle of three axes, exact; NaN if any element is NaN, infinity for length 0.
///
/// # Panics
/// If the number of elements is not that of the shape.
#[must_use]
pub fn min<T: Element>(a: &[T], shape: [usize; 3]) -> Definition {
    along(a, shape, |row| [-row.iter().map(|x| -x).fold(f64::NEG_INFINITY, larger), 0.0])
}

/// Largest absolute values along the middle of three axes, exact; NaN if any element is NaN.
///
/// # Panics
/// If the number of elements is not that of the shape.
#[must_use]
pub fn max_abs<T: Element>(a: &[T], shape: [usize; 3]) -> Definition {
    along(a, shape, |row| [row.iter().map(|x| x.abs()).fold(0.0, larger), 0.0])
}

fn larger(x: f64, y: f64) -> f64 {
    if x.is_nan() || x >= y { x } else { y }
}

/// Indices of the largest elements along the middle of three axes: that of the first NaN, otherwise that of the first
/// of equal elements.
///
/// # Panics
/// If the number of elements is not that of the shape, or there are none along the axis.
#[must_use]
pub fn argmax<T: Element>(a: &[T], shape: [usize; 3]) -> Vec<usize> {
    first_of_best(a, shape, |x, y| x > y)
}

/// Indices of the smallest elements along the middle of three axes, with the same rule.
///
/// # Panics
/// As [`argmax`].
#[must_use]
pub fn argmin<T: Element>(a: &[T], shape: [usize; 3]) -> Vec<usize> {
    first_of_best(a, shape, |x, y| x < y)
}

/// Variances along the middle of three axes, with a correction $c$ of their length $n$. NaN if $n \le c$.
///
/// The kernel subtracts the first element, $y_{i} = a_{i} - a_{0}$, and merges counts, means and sums of squared distances $M$ (Chan,
/// Golub and `LeVeque`). Let $S = \sum_{i} y_{i}^{2}$ and $u = 2^{-23}$. A mean of $j$ elements is at most $\sqrt{S / j}$; each of
/// the merges that led to it adds errors of a few $u$ of that, weighted with the share of the elements that it had merged, so the mean is
/// off by at most $c_{1} u \sqrt{j S}$. It enters $M$ through terms $2 d\\,\delta d\\,w$, where $\sum w d^{2} \le M$ and $w$ is at most the
/// smaller number of elements, so by Cauchy and Schwarz these are at most $c_{2} n u \sqrt{M S}$. The sum of the terms of $M$ has the
/// relative error $\gamma_{c_{3} n}$. With $M \le S$, the variance is within $\gamma_{8 n}\\,S / (n - c) + n 2^{-125}$.
///
/// # Panics
/// If the number of elements is not that of the shape.
#[must_use]
pub fn var<T: Element>(a: &[T], shape: [usize; 3], correction: usize) -> Definition {
    along(a, shape, |row| {
        let n = row.len();
        if n <= correction {
            return [f64::NAN, f64::NAN];
        }
        let mean = row.iter().sum::<f64>() / n as f64;
        let squares = |from: f64| row.iter().map(|x| (x - from) * (x - from)).sum::<f64>();
        let divisor = (n - correction) as f64;
        [squares(mean) / divisor, gamma(8 * n) * squares(row[0]) / divisor + 2.0 * n as f64 * NORMAL]
    })
}

/// Cumulative sums along the middle of three axes, of the same shape: the sum of the first $i$ elements is within the tolerance of
/// [`sum`] for length $i$.
///
/// # Panics
/// If the number of elements is not that of the shape.
#[must_use]
pub fn cumsum<T: Element>(a: &[T], shape: [usize; 3]) -> Definition {
    let [_, length, inner] = shape;
    let mut entries = vec![[0.0; 2]; a.len()];
    for (at, row) in rows_along(a, shape).enumerate() {
        let [mut sum, mut magnitude] = [0.0, 0.0];
        for (i, x) in row.into_iter().enumerate() {
            sum += x;
            magnitude += x.abs();
            let tolerance = sum_tolerance(i + 1, magnitude, Accumulator::F32);
            entries[(at / inner * length + i) * inner + at % inner] = [sum, tolerance];
        }
    }
    Definition::of(entries.into_iter())
}

/// For every row, the index of the first best element; NaN is better than numbers.
fn first_of_best<T: Element>(a: &[T], shape: [usize; 3], is_better: fn(&f64, &f64) -> bool) -> Vec<usize> {
    assert!(shape[1] > 0, "an element to choose");
    let wins = |x: f64, y: f64| !y.is_nan() && (x.is_nan() || is_better(&x, &y));
    let place = |row: Vec<f64>| (1..row.len()).fold(0, |at, i| if wins(row[i], row[at]) { i } else { at });
    rows_along(a, shape).map(place).collect()
}

/// A function of the rows, with its tolerance.
fn along<T: Element>(a: &[T], shape: [usize; 3], function: impl Fn(&[f64]) -> [f64; 2]) -> Definition {
    Definition::of(rows_along(a, shape).map(|row| function(&row)))
}

/// The rows along the middle of three axes.
fn rows_along<T: Element>(a: &[T], [outer, length, inner]: [usize; 3]) -> impl Iterator<Item = Vec<f64>> {
    assert_eq!(a.len(), outer * length * inner, "the number of elements");
    (0..outer * inner).map(move |at| {
        (0..length).map(|i| a[(at / inner * length + i) * inner + at % inner].to_f64()).collect()
    })
}
