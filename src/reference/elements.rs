//! Elementwise operations, by definition.

use super::activation::{activate as activation_of, activation_slope, activation_tolerance, slope_tolerance};
use super::bounds::{Comparison, compare, store_tolerance};
use crate::layout::Element;
use crate::ops::Activation;

pub(super) use super::bounds::U;
/// The smallest normal f32. A driver may flush smaller values to zero.
pub(super) const NORMAL: f64 = 1.0 / (1u128 << 126) as f64;

/// Exact results, and the error bounds of results that are computed in f32.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The results in f64.
    pub value: Vec<f64>,
    /// The error bound of each f32 result, before it is stored.
    pub tolerance: Vec<f64>,
}

impl Definition {
    /// Compares results elementwise, within the tolerance and [`store_tolerance`].
    ///
    /// # Panics
    /// If the number of results differs.
    #[must_use]
    pub fn compare<T: Element>(&self, results: &[T]) -> Comparison {
        assert_eq!(results.len(), self.value.len(), "the number of results");
        let defined = self.value.iter().zip(&self.tolerance);
        compare(results.iter().zip(defined).map(|(got, (&value, &tolerance))| {
            // The computed value is stored, not the exact one, so it may round to a neighbour.
            let stored = store_tolerance(value.abs() + tolerance, T::DTYPE);
            (got.to_f64(), value, tolerance + stored)
        }))
    }

    pub(super) fn of(entries: impl Iterator<Item = [f64; 2]>) -> Self {
        let (value, tolerance) = entries.map(|[value, tolerance]| (value, tolerance)).unzip();
        Self { value, tolerance }
    }
}

/// Elementwise sums $a + b$, within $u |a + b| + 3 \cdot 2^{-126}$ with $u = 2^{-23}$. Operands and result may be
/// flushed to zero.
///
/// # Panics
/// If the operands differ in length.
#[must_use]
pub fn add<T: Element>(a: &[T], b: &[T]) -> Definition {
    both(a, b, |a, b| [a + b, U * (a + b).abs() + 3.0 * NORMAL])
}

/// Elementwise differences $a - b$, within the tolerance of [`add`].
///
/// # Panics
/// If the operands differ in length.
#[must_use]
pub fn sub<T: Element>(a: &[T], b: &[T]) -> Definition {
    both(a, b, |a, b| [a - b, U * (a - b).abs() + 3.0 * NORMAL])
}

/// Elementwise products $ab$, within $u |ab| + 2^{-126} (1 + |a| + |b|)$ with $u = 2^{-23}$.
///
/// # Panics
/// If the operands differ in length.
#[must_use]
pub fn mul<T: Element>(a: &[T], b: &[T]) -> Definition {
    both(a, b, |a, b| [a * b, U * (a * b).abs() + NORMAL * (1.0 + a.abs() + b.abs())])
}

/// A definition from two operands.
fn both<T: Element>(a: &[T], b: &[T], entry: impl Fn(f64, f64) -> [f64; 2]) -> Definition {
    assert_eq!(a.len(), b.len(), "the operands must have the same length");
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

/// The backward pass of an activation, $f'(a)\\,g$, within $|g|$ times [`slope_tolerance`] plus the tolerance of
/// [`mul`].
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
