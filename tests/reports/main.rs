//! Inputs on which other projects computed wrong results, hung or crashed, as their users reported. They are right here, and
//! these tests keep them so. A test is named by what went wrong there, and its comment names project and report. The right
//! values are computed in f64 by the test itself. Small sizes run by default; `TILEWISE_SWEEP=full` runs the reported ones.

mod algebra;
mod attention;
mod empty;
mod files;
mod large;
mod least_squares;
mod memory;
mod numbers;
mod products;
mod rotary;
mod rows;

use tilewise::{Element, Fill};

/// Values in [-1, 1) that the type holds.
fn random<T: Element>(len: usize, seed: u64) -> Vec<T> {
    Fill::Uniform.values(len, seed)
}

fn wide<T: Element>(values: &[T]) -> Vec<f64> {
    values.iter().map(|value| value.to_f64()).collect()
}

/// Half the distance of numbers of this type around `value`, and what a device may flush to zero.
fn rounding<T: Element>(value: f64) -> f64 {
    match T::DTYPE.size() {
        4 => value.abs() * 2f64.powi(-23) + 2f64.powi(-126),
        _ if T::from_f64(1.0 + 2f64.powi(-10)).to_f64() > 1.0 => {
            value.abs() * 2f64.powi(-10) + 2f64.powi(-14)
        }
        _ => value.abs() * 2f64.powi(-7) + 2f64.powi(-126),
    }
}

/// Asserts that each value is as far off as `allowed` says, at most.
#[track_caller]
fn assert_near(found: &[f64], want: &[f64], allowed: impl Fn(usize) -> f64, what: &str) {
    assert_eq!(found.len(), want.len(), "{what}");
    for (at, (found, want)) in found.iter().zip(want).enumerate() {
        let off = (found - want).abs();
        let is_same = found == want || found.is_nan() && want.is_nan();
        assert!(is_same || off <= allowed(at), "{what}: element {at} is {found}, not {want}: off by {off:e}");
    }
}

/// The product of row-major matrices, and the sums of the magnitudes of its terms.
fn product(a: &[f64], b: &[f64], [m, n, k]: [usize; 3]) -> (Vec<f64>, Vec<f64>) {
    let (mut c, mut magnitudes) = (vec![0.0; m * n], vec![0.0; m * n]);
    for (i, (c, magnitudes)) in c.chunks_exact_mut(n).zip(magnitudes.chunks_exact_mut(n)).enumerate() {
        for p in 0..k {
            let a = a[i * k + p];
            for ((c, magnitude), b) in c.iter_mut().zip(magnitudes.iter_mut()).zip(&b[p * n..][..n]) {
                *c += a * b;
                *magnitude += (a * b).abs();
            }
        }
    }
    (c, magnitudes)
}

/// The most that a sum of `k` terms in f32 may be off, per unit of the terms' magnitudes.
fn gamma(k: usize) -> f64 {
    k as f64 * 2f64.powi(-23)
}
