//! Whether a trial finds faults: its operands and tolerances against sums that have lost some of their terms, computed on the CPU.

use super::trial_operands::once;
use crate::caps::fixtures;
use crate::gemm::{GemmProblem, GemmTypes};
use crate::layout::{DType, Fill, Layout};
use crate::ops::Activation;
use crate::plan::{Problem, Trial, TrialValues};
use crate::reference::activate;
use crate::sketch::dense::DenseProblem;
use crate::sketch::{Direction, Sketch, SketchKind};
use std::ops::Range;

fn flat(shape: &[usize]) -> Layout {
    Layout::contiguous("test", shape).unwrap()
}

/// The first values of the operand with this index, in its type.
fn values(of: TrialValues, dtype: DType, len: usize, at: u64) -> Vec<f64> {
    once(of, dtype, len, at).into_iter().map(|value| dtype.nearest(value).1).cycle().take(len).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "rounded to f32")]
fn single(value: f64) -> f32 {
    value as f32
}

/// A product of A (m, k) and B (k, n), with an activation.
struct TrialProduct {
    a: Vec<f64>,
    b: Vec<f64>,
    shape: [usize; 3],
    activation: Activation,
    dtype: DType,
}

impl TrialProduct {
    /// The result without the terms `lost`.
    fn without(&self, lost: &Range<usize>) -> Vec<f64> {
        self.summed(|terms| terms.filter(|(at, _)| !lost.contains(at)).map(|(_, term)| term).sum())
    }

    /// The result by sums in f32, from the last term to the first.
    fn backwards(&self) -> Vec<f64> {
        self.summed(|terms| {
            let terms: Vec<f64> = terms.map(|(_, term)| term).collect();
            f64::from(terms.into_iter().rev().fold(0.0, |sum: f32, term| sum + single(term)))
        })
    }

    fn summed(&self, sum: impl Fn(&mut dyn Iterator<Item = (usize, f64)>) -> f64) -> Vec<f64> {
        let [m, n, k] = self.shape;
        let places = (0..m).flat_map(|i| (0..n).map(move |j| (i, j)));
        let results = places.map(|(i, j)| {
            let mut terms = (0..k).map(|at| (at, self.a[i * k + at] * self.b[at * n + j]));
            self.dtype.nearest(activate(self.activation, sum(&mut terms))).1
        });
        results.collect()
    }

    /// Whether some result is outside the tolerance of a run.
    fn is_refused(&self, results: &[f64], trial: &Trial, run: usize) -> bool {
        let tolerance = trial.runs[run].tolerances[0];
        let right = self.without(&(0..0));
        results.iter().zip(&right).any(|(&result, &right)| !tolerance.allows(result, right))
    }
}

/// A trial finds that terms are lost, in the middle and at the end, and accepts sums of another order.
fn finds_lost_terms(what: &str, trial: &Trial, of_run: impl Fn(usize) -> TrialProduct) {
    let products: Vec<TrialProduct> = (0..trial.runs.len()).map(of_run).collect();
    for (run, product) in products.iter().enumerate() {
        assert!(!product.is_refused(&product.backwards(), trial, run), "{what}, run {run}: another order");
    }
    let k = products[0].shape[2];
    for lost in [0..1, k / 2..k / 2 + 8, k - 1..k, k - 8..k] {
        // A single term that is 0 everywhere is not lost.
        let is_found =
            |(run, product): (usize, &TrialProduct)| product.is_refused(&product.without(&lost), trial, run);
        assert!(products.iter().enumerate().any(is_found), "{what}: terms {lost:?}");
    }
}

#[test]
fn lost_terms_of_products_are_found() {
    use Activation::{Gelu, None, Sigmoid, Softplus, Tanh};
    let caps = fixtures::lavapipe();
    for (shape, ab, c, activation) in [
        ([40, 48, 64], DType::F32, DType::F32, None),
        ([48, 40, 5000], DType::F32, DType::F32, None),
        ([48, 64, 2048], DType::F32, DType::F32, Gelu),
        ([48, 64, 2048], DType::F16, DType::F16, Sigmoid),
        ([48, 64, 2048], DType::Bf16, DType::F32, Tanh),
        ([48, 64, 2048], DType::F8E4M3, DType::F32, None),
        ([48, 64, 2048], DType::F8E5M2, DType::F16, Tanh),
        ([1, 3000, 1000], DType::F32, DType::F32, Sigmoid),
        ([3000, 1, 1000], DType::F16, DType::F32, Softplus),
    ] {
        let [m, n, k] = shape;
        let types = GemmTypes::new(ab, c);
        let problem = GemmProblem::new(&flat(&[m, k]), &flat(&[k, n]), &flat(&[m, n]), types).unwrap();
        let trial = problem.activation(activation).trial(&caps).unwrap().expect("a trial");
        finds_lost_terms(&trial.description, &trial, |run| {
            let values = |at: usize, len| values(trial.runs[run].values[at], ab, len, at as u64);
            TrialProduct { a: values(0, m * k), b: values(1, k * n), shape, activation, dtype: c }
        });
    }
}

/// Normal numbers stand for the entries of the operator.
#[test]
fn lost_terms_of_sketches_are_found() {
    let caps = fixtures::lavapipe();
    for (shape, dtype) in
        [([32, 40, 300], DType::F32), ([4, 400, 4096], DType::F32), ([3, 400, 4096], DType::F16)]
    {
        let [m, n, k] = shape;
        let sketch = Sketch::new(SketchKind::Gaussian, [m, k], 1).unwrap();
        let problem = DenseProblem::new(&sketch, Direction::Forward, &flat(&[k, n]), 0, dtype).unwrap();
        let trial = problem.trial(&caps).unwrap().expect("a trial");
        finds_lost_terms(&trial.description, &trial, |run| {
            let a = Fill::Normal.values::<f32>(m * k, 5).into_iter().map(f64::from).collect();
            let b = values(trial.runs[run].values[0], dtype, k * n, 0);
            TrialProduct { a, b, shape, activation: Activation::None, dtype: DType::F32 }
        });
    }
}
