//! Numbers with bounds on their errors in f32: a running error analysis.

use super::bounds::gamma;
use super::elements::{Definition, U};

/// A bound on the relative error of one over a square root, from WGSL.
pub(super) const DIVIDED: f64 = 8.0 * U;

/// Values by definition, and a bound on the error of each in f32.
///
/// The bound follows the computation step by step (Higham, *Accuracy and Stability of Numerical Algorithms*, section
/// 3.3). If $a$ has an error of at most $d$ and $b$ of at most $e$, their product has an error of at most
/// $|a| e + |b| d + d e$. A sum of $k$ terms, in any order, has an error of at most the sum of its terms' errors plus
/// $\gamma_{k}$ times the sum of their absolute values. Both hold as long as nothing overflows and no value but zero is
/// below the smallest normal number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoundedValues {
    /// The values by definition.
    pub values: Vec<f64>,
    /// A bound on the absolute error of each.
    pub bounds: Vec<f64>,
}

/// The gradients of a layer's product, each with a bound on its error.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the operands' names")]
pub struct BoundedGradients {
    pub x: BoundedValues,
    pub y: BoundedValues,
    pub weight: BoundedValues,
}

impl BoundedValues {
    /// Values without an error, such as the inputs of a device.
    #[must_use]
    pub fn exact(values: &[f64]) -> Self {
        Self { values: values.to_vec(), bounds: vec![0.0; values.len()] }
    }

    /// Adds other values, which have no error.
    #[must_use]
    pub fn plus(mut self, other: &[f64]) -> Self {
        for ((value, bound), other) in self.values.iter_mut().zip(&mut self.bounds).zip(other) {
            *value += other;
            *bound += U * (value.abs() + *bound);
        }
        self
    }

    pub(super) fn at(&self, i: usize) -> BoundedNumber {
        BoundedNumber { value: self.values[i], bound: self.bounds[i] }
    }
}

/// One value of [`BoundedValues`], with its bound.
#[derive(Clone, Copy, Default)]
pub(super) struct BoundedNumber {
    pub(super) value: f64,
    pub(super) bound: f64,
}

impl BoundedNumber {
    /// The largest absolute value that it may have.
    pub(super) fn most(self) -> f64 {
        self.value.abs() + self.bound
    }

    /// The product, without its rounding error, which [`BoundedSum::done`] adds.
    pub(super) fn times(self, other: Self) -> Self {
        let bound =
            self.value.abs() * other.bound + self.bound * other.value.abs() + self.bound * other.bound;
        Self { value: self.value * other.value, bound }
    }

    pub(super) fn scaled(self, by: f64) -> Self {
        Self { value: self.value * by, bound: self.bound * by.abs() }
    }

    pub(super) fn rounded(self) -> Self {
        Self { bound: self.bound + U * self.most(), ..self }
    }
}

/// A sum whose terms are added in any order.
#[derive(Clone, Copy, Default)]
pub(super) struct BoundedSum {
    of: BoundedNumber,
    size: f64,
    terms: usize,
}

impl BoundedSum {
    pub(super) fn add(&mut self, term: BoundedNumber) {
        self.of.value += term.value;
        self.of.bound += term.bound;
        self.size += term.most();
        self.terms += 1;
    }

    /// The value of the sum. Each term is a product that was rounded at most `factors` times.
    pub(super) fn done(self, factors: usize) -> BoundedNumber {
        if self.terms == 0 {
            return BoundedNumber::default();
        }
        BoundedNumber { bound: self.of.bound + gamma(self.terms + factors) * self.size, ..self.of }
    }

    pub(super) fn all(sums: &[Self], factors: usize) -> BoundedValues {
        sums.iter().map(|sum| sum.done(factors)).collect()
    }
}

impl FromIterator<BoundedNumber> for BoundedValues {
    fn from_iter<I: IntoIterator<Item = BoundedNumber>>(numbers: I) -> Self {
        let (values, bounds) = numbers.into_iter().map(|number| (number.value, number.bound)).unzip();
        Self { values, bounds }
    }
}

pub(super) fn exact(value: f64) -> BoundedNumber {
    BoundedNumber { value, bound: 0.0 }
}

pub(super) fn plus(a: BoundedNumber, b: BoundedNumber) -> BoundedNumber {
    BoundedNumber { value: a.value + b.value, bound: a.bound + b.bound }.rounded()
}

pub(super) fn minus(a: BoundedNumber, b: BoundedNumber) -> BoundedNumber {
    plus(a, b.scaled(-1.0))
}

/// The quotient of a sum by a number of elements: WGSL divides within 2.5 units in the last place.
pub(super) fn divided(sum: BoundedNumber, count: usize) -> BoundedNumber {
    let quotient = sum.scaled(1.0 / count.max(1) as f64);
    BoundedNumber { bound: quotient.bound + 3.0 * U * quotient.most(), ..quotient }
}

/// The values, each with its bound as the tolerance.
pub(super) fn defined(numbers: &[BoundedNumber]) -> Definition {
    Definition::of(numbers.iter().map(|number| [number.value, number.bound]))
}
