//! Matrix products by definition.

use super::bounds::{Comparison, compare, store_tolerance, sum_tolerance};
use super::precision::{largest_finite, precision_tolerance};
use crate::gemm::Sums;
use crate::layout::Element;
use crate::layout::Precision;
use std::thread;

/// Entries of a product by definition.
#[derive(Clone, Debug, PartialEq)]
pub struct GemmReference {
    /// $(AB)_{ij}$ in f64.
    pub value: Vec<f64>,
    /// $(|A||B|)_{ij}$ in f64: what errors are measured by.
    pub magnitude: Vec<f64>,
    /// The product of the largest finite magnitudes of row i of A and column j of B.
    largest: Vec<f64>,
    /// Products that a sum rounds: all k, but of integers none.
    rounded: usize,
    sums: Sums,
    precision: Precision,
}

impl GemmReference {
    /// The same entries, to be compared with products whose sums may be of this kind; without it, of f32.
    #[must_use]
    pub fn summed(self, sums: Sums) -> Self {
        Self { sums, ..self }
    }

    /// The same entries, to be compared with products of f32 operands of this precision; without it, of
    /// [`Precision::Strict`].
    #[must_use]
    pub fn precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// Compares a product, entry by entry, within [`sum_tolerance`], or [`precision_tolerance`] if a precision was
    /// given up, and [`store_tolerance`]; of integers, to the bit.
    ///
    /// # Panics
    /// If it does not have as many entries.
    #[must_use]
    pub fn compare<T: Element>(&self, product: &[T]) -> Comparison {
        assert_eq!(product.len(), self.value.len(), "as many results as definitions");
        compare(product.iter().enumerate().map(|(i, got)| {
            let [value, magnitude, largest] = [self.value[i], self.magnitude[i], self.largest[i]];
            let summed = match self.precision {
                Precision::Strict => sum_tolerance(self.rounded, magnitude, self.sums),
                less => precision_tolerance(less, self.rounded, magnitude, largest),
            };
            (got.to_f64(), value, summed + store_tolerance(value, T::DTYPE))
        }))
    }
}

/// Every entry of the product of `a` (m, k) and `b` (k, n), both row-major.
///
/// # Panics
/// If the operands have other lengths.
#[must_use]
pub fn gemm<T: Element>(a: &[T], b: &[T], [m, n, k]: [usize; 3]) -> GemmReference {
    assert_eq!([a.len(), b.len()], [m * k, k * n], "operands of another shape");
    let [a, b] = [a, b].map(|x| x.iter().map(|x| x.to_f64()).collect::<Vec<_>>());
    let mut value = vec![0.0; m * n];
    let mut magnitude = vec![0.0; m * n];
    if m * n > 0 && k > 0 {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let rows = m.div_ceil(threads);
        let chunks = value.chunks_mut(rows * n).zip(magnitude.chunks_mut(rows * n));
        let mut chunks = a.chunks(rows * k).zip(chunks);
        // This thread computes the first chunk: so one chunk alone, as in a browser, starts no thread.
        let first = chunks.next();
        thread::scope(|scope| {
            for (a, (value, magnitude)) in chunks {
                let b = &b;
                scope.spawn(move || rows_of(a, b, [n, k], value, magnitude));
            }
            if let Some((a, (value, magnitude))) = first {
                rows_of(a, &b, [n, k], value, magnitude);
            }
        });
    }
    let rows: Vec<f64> = (0..m).map(|i| largest_finite(a[i * k..(i + 1) * k].iter().copied())).collect();
    let cols: Vec<f64> = (0..n).map(|j| largest_finite(b.iter().skip(j).step_by(n).copied())).collect();
    let largest = rows.iter().flat_map(|row| cols.iter().map(move |col| row * col)).collect();
    GemmReference {
        value,
        magnitude,
        largest,
        rounded: rounded::<T>(k),
        sums: Sums::F32,
        precision: Precision::Strict,
    }
}

/// How many of `k` products of these operands a sum rounds: sums of integers are exact.
fn rounded<T: Element>(k: usize) -> usize {
    if T::DTYPE.is_real() { k } else { 0 }
}

/// Some rows of a product: a row of C takes each row of B once.
fn rows_of(a: &[f64], b: &[f64], [n, k]: [usize; 2], value: &mut [f64], magnitude: &mut [f64]) {
    for (a, (value, magnitude)) in a.chunks(k).zip(value.chunks_mut(n).zip(magnitude.chunks_mut(n))) {
        for (&a, b) in a.iter().zip(b.chunks(n)) {
            for ((value, magnitude), &b) in value.iter_mut().zip(magnitude.iter_mut()).zip(b) {
                *value += a * b;
                *magnitude += (a * b).abs();
            }
        }
    }
}

/// The entries of the product of `a` (m, k) and `b` (k, n) at these places (row, column).
///
/// # Panics
/// If an entry of `a` or `b` that a place needs is not there.
#[must_use]
pub fn gemm_entries<T: Element>(
    a: &[T],
    b: &[T],
    [_, n, k]: [usize; 3],
    places: &[[usize; 2]],
) -> GemmReference {
    let entry = |&[row, col]: &[usize; 2]| {
        (0..k)
            .map(|p| a[row * k + p].to_f64() * b[p * n + col].to_f64())
            .fold([0.0, 0.0], |[sum, magnitude], x| [sum + x, magnitude + x.abs()])
    };
    let entries: Vec<[f64; 2]> = places.iter().map(entry).collect();
    let largest = |&[row, col]: &[usize; 2]| {
        let of_a = largest_finite((0..k).map(|p| a[row * k + p].to_f64()));
        of_a * largest_finite((0..k).map(|p| b[p * n + col].to_f64()))
    };
    GemmReference {
        value: entries.iter().map(|e| e[0]).collect(),
        magnitude: entries.iter().map(|e| e[1]).collect(),
        largest: places.iter().map(largest).collect(),
        rounded: rounded::<T>(k),
        sums: Sums::F32,
        precision: Precision::Strict,
    }
}

/// Compares $C t$ with $A (B t)$, row by row, for a vector t of signs: every entry of C takes part, at the cost of
/// reading the matrices once. A row may be off by the sum of its entries' tolerances.
///
/// # Panics
/// If `a`, `b` or `c` has fewer elements than its shape.
#[must_use]
pub fn projection<T: Element, C: Element>(
    a: &[T],
    b: &[T],
    c: &[C],
    [m, n, k]: [usize; 3],
    signs: &[f64],
    sums: Sums,
) -> Comparison {
    let bt: Vec<[f64; 2]> = (0..k)
        .map(|p| {
            let row = &b[p * n..(p + 1) * n];
            row.iter().zip(signs).fold([0.0, 0.0], |[sum, magnitude], (x, t)| {
                [sum + x.to_f64() * t, magnitude + x.to_f64().abs()]
            })
        })
        .collect();
    let rounded = rounded::<T>(k);
    compare((0..m).map(|row| {
        let a = &a[row * k..(row + 1) * k];
        let c = &c[row * n..(row + 1) * n];
        let got = c.iter().zip(signs).map(|(c, t)| c.to_f64() * t).sum();
        let [want, magnitude] = a.iter().zip(&bt).fold([0.0, 0.0], |[sum, magnitude], (a, b)| {
            [sum + a.to_f64() * b[0], magnitude + a.to_f64().abs() * b[1]]
        });
        let stored: f64 = c.iter().map(|x| store_tolerance(x.to_f64(), C::DTYPE)).sum();
        // Each entry's tolerance is a part in proportion to its magnitude, and one that they all have.
        let common = n.saturating_sub(1) as f64 * sum_tolerance(rounded, 0.0, sums);
        (got, want, sum_tolerance(rounded, magnitude, sums) + common + stored)
    }))
}
