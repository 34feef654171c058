//! Matrix products by definition, in f64.

use super::bounds::{Comparison, compare, store_tolerance, sum_tolerance};
use super::precision::{largest_finite, precision_tolerance};
use crate::gemm::Accumulator;
use crate::layout::{Element, Precision};
use std::thread;

/// Entries of a product by definition.
#[derive(Clone, Debug, PartialEq)]
pub struct GemmReference {
    /// $(AB)\_{ij}$ in f64.
    pub value: Vec<f64>,
    /// $(|A||B|)\_{ij}$ in f64. Error bounds are relative to it.
    pub magnitude: Vec<f64>,
    /// The product of the largest finite magnitudes of row i of A and column j of B.
    largest: Vec<f64>,
    /// The number of products in a sum that is rounded: k, or 0 for integers, whose sums are exact.
    rounded: usize,
    accumulator: Accumulator,
    precision: Precision,
}

impl GemmReference {
    fn strict([value, magnitude, largest]: [Vec<f64>; 3], rounded: usize) -> Self {
        let (accumulator, precision) = (Accumulator::F32, Precision::Strict);
        Self { value, magnitude, largest, rounded, accumulator, precision }
    }

    /// Sets the accumulator of the products to compare with. The default is f32.
    #[must_use]
    pub fn accumulator(self, accumulator: Accumulator) -> Self {
        Self { accumulator, ..self }
    }

    /// Sets the precision of the products of f32 operands to compare with. The default is [`Precision::Strict`].
    #[must_use]
    pub fn precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// Compares the entries of a product with the reference. The tolerance is [`sum_tolerance`], or [`precision_tolerance`] for
    /// a precision other than strict, plus [`store_tolerance`]. Integers must be equal.
    ///
    /// # Panics
    /// If the number of entries differs.
    #[must_use]
    pub fn compare<T: Element>(&self, product: &[T]) -> Comparison {
        assert_eq!(
            product.len(),
            self.value.len(),
            "the product and the reference must have the same number of entries"
        );
        compare(product.iter().enumerate().map(|(i, got)| {
            let [value, magnitude, largest] = [self.value[i], self.magnitude[i], self.largest[i]];
            let summed = match self.precision {
                Precision::Strict => sum_tolerance(self.rounded, magnitude, self.accumulator),
                less => precision_tolerance(less, self.rounded, magnitude, largest),
            };
            (got.to_f64(), value, summed + store_tolerance(value, T::DTYPE))
        }))
    }
}

/// All entries of the product of `a` (m, k) and `b` (k, n), both row-major.
///
/// # Panics
/// If an operand does not have the length that its shape implies.
#[must_use]
pub fn gemm<T: Element>(a: &[T], b: &[T], [m, n, k]: [usize; 3]) -> GemmReference {
    assert_eq!([a.len(), b.len()], [m * k, k * n], "the operands must have the lengths m k and k n");
    let [a, b] = [a, b].map(|x| x.iter().map(|x| x.to_f64()).collect::<Vec<_>>());
    let mut value = vec![0.0; m * n];
    let mut magnitude = vec![0.0; m * n];
    if m * n > 0 && k > 0 {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let rows = m.div_ceil(threads);
        let chunks = value.chunks_mut(rows * n).zip(magnitude.chunks_mut(rows * n));
        let mut chunks = a.chunks(rows * k).zip(chunks);
        // This thread computes the first chunk. A single chunk, as in a browser, starts no other thread.
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
    GemmReference::strict([value, magnitude, largest], rounded::<T>(k))
}

/// The number of products in a sum that is rounded: sums of integers are exact.
fn rounded<T: Element>(k: usize) -> usize {
    if T::DTYPE.is_float() { k } else { 0 }
}

/// Computes some rows of a product, reading each row of B once per row.
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
/// If a place lies outside the operands.
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
    let [value, magnitude] = [0, 1].map(|which| entries.iter().map(|entry| entry[which]).collect());
    GemmReference::strict([value, magnitude, places.iter().map(largest).collect()], rounded::<T>(k))
}

/// Compares $C t$ with $A (B t)$, row by row, for a vector t of signs. It checks every entry of C at the cost of reading the
/// matrices once. The tolerance of a row is the sum of its entries' tolerances.
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
    accumulator: Accumulator,
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
        // The tolerance of an entry is one part proportional to its magnitude, and one part that is the same for all.
        let common = n.saturating_sub(1) as f64 * sum_tolerance(rounded, 0.0, accumulator);
        (got, want, sum_tolerance(rounded, magnitude, accumulator) + common + stored)
    }))
}
