//! The steps of a transformer's layers by definition, for operands with errors.

use super::activation::{activate, activation_tolerance};
use super::attention::LATE;
use super::bounded::{BoundedNumber, BoundedSum, divided, exact, minus, plus};
use super::bounds::{gamma, store_tolerance};
use super::elements::{NORMAL, U};
use super::norm_statistics::over_root;
use crate::attention::layer::kinds::BlockNorm;
use crate::layout::DType;
use crate::ops::Activation;

/// The weight of a linear map, (out, in), or of a norm, and its bias, if it has one.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightAndBias {
    /// The weight, row-major.
    pub weight: Vec<f64>,
    /// The bias.
    pub bias: Option<Vec<f64>>,
}

impl WeightAndBias {
    /// The rows from `first` on, up to `end`, of a weight with this number of inputs.
    pub(super) fn rows(&self, first: usize, end: usize, inputs: usize) -> Self {
        let bias = self.bias.as_ref().map(|bias| bias[first..end].to_vec());
        Self { weight: self.weight[first * inputs..end * inputs].to_vec(), bias }
    }

    /// activation($x W^T + b$) plus a residual, of rows of `inputs` elements, before it is stored. The argument of the activation is a sum
    /// of `inputs` products and a bias, as in [`EpilogueReference`](super::EpilogueReference).
    pub(super) fn map(
        &self,
        x: &[BoundedNumber],
        inputs: usize,
        activation: Activation,
        residual: Option<&[BoundedNumber]>,
    ) -> Vec<BoundedNumber> {
        let outputs = self.weight.len() / inputs;
        let entry = |at: usize| {
            let (row, output) = (at / outputs, at % outputs);
            let mut sum = BoundedSum::default();
            for (x, weight) in x[row * inputs..][..inputs].iter().zip(&self.weight[output * inputs..]) {
                sum.add(x.scaled(*weight));
            }
            let (sum, bias) = (sum.done(1), self.bias.as_ref().map_or(0.0, |bias| bias[output]));
            let z = sum.value + bias;
            let off = sum.bound + 4.0 * U * (sum.most() + bias.abs()) + 4.0 * NORMAL * inputs as f64;
            let y = BoundedNumber {
                value: activate(activation, z),
                bound: activation_tolerance(activation, z, off),
            };
            residual.map_or(y, |residual| plus(y, residual[at]))
        };
        (0..x.len() / inputs * outputs).map(entry).collect()
    }

    /// The norm of rows, with this gamma and beta, before it is stored.
    ///
    /// Let $e_{i}$ bound the errors of the $n$ elements of a row. The error of its mean is at most $\bar e$. The error of its
    /// deviation $r$ is at most the root mean square $\rho$ of $e$, because subtracting the mean and dividing by $\sqrt n$ lengthen
    /// no vector. So the error of $(x_{i} - m) / r$ is at most $(e_{i} + \bar e + |x_{i} - m|\\,\rho / r) / (r - \rho)$. The
    /// rounding errors of the computation are twice those of a row without errors, because the kernel normalises another row than
    /// the definition.
    pub(super) fn norm(&self, x: &[BoundedNumber], kind: BlockNorm, eps: f64) -> Vec<BoundedNumber> {
        x.chunks_exact(self.weight.len()).flat_map(|row| self.norm_of_row(row, kind, eps)).collect()
    }

    fn norm_of_row(&self, row: &[BoundedNumber], kind: BlockNorm, eps: f64) -> Vec<BoundedNumber> {
        let (apart, variance) = spread(row, kind);
        let rstd = over_root(variance, eps);
        let deviation = rstd.value.recip();
        let mean = |of: fn(f64) -> f64| row.iter().map(|x| of(x.bound)).sum::<f64>() / row.len() as f64;
        let mean_off = if kind == BlockNorm::Layer { mean(|e| e) } else { 0.0 };
        let off = mean(|e| e * e).sqrt();
        let entry = |(channel, (x, apart)): (usize, (&BoundedNumber, BoundedNumber))| {
            let moved = x.bound + mean_off + apart.value.abs() * off / deviation;
            let moved = if off < deviation { moved / (deviation - off) } else { f64::INFINITY };
            let y = apart.times(rstd).rounded();
            let y = BoundedNumber { bound: 2.0 * y.bound + moved, ..y };
            let y = y.times(exact(self.weight[channel])).rounded();
            let y = self.bias.as_ref().map_or(y, |beta| plus(y, exact(beta[channel])));
            BoundedNumber { bound: y.bound + 4.0 * NORMAL, ..y }
        };
        row.iter().zip(apart).enumerate().map(entry).collect()
    }
}

/// The distances of the values of a row to their mean, or to 0, and the mean of their squares, as if the row had no errors.
fn spread(row: &[BoundedNumber], kind: BlockNorm) -> (Vec<BoundedNumber>, BoundedNumber) {
    let mut sum = BoundedSum::default();
    row.iter().for_each(|x| sum.add(exact(x.value)));
    let mean = match kind {
        BlockNorm::Layer => divided(sum.done(0), row.len()),
        BlockNorm::Rms => BoundedNumber::default(),
    };
    let apart = row.iter().map(|x| match kind {
        BlockNorm::Layer => minus(exact(x.value), mean),
        BlockNorm::Rms => exact(x.value),
    });
    let apart: Vec<BoundedNumber> = apart.collect();
    let mut squares = BoundedSum::default();
    apart.iter().for_each(|apart| squares.add(apart.times(*apart)));
    let variance = divided(squares.done(4), row.len());
    (apart, BoundedNumber { bound: variance.bound + NORMAL, ..variance })
}

/// The numbers rounded to this type.
pub(super) fn stored(mut x: Vec<BoundedNumber>, dtype: DType) -> Vec<BoundedNumber> {
    for x in &mut x {
        x.bound += store_tolerance(x.most(), dtype);
    }
    x
}

/// Values without errors.
pub(super) fn given(x: &[f64]) -> Vec<BoundedNumber> {
    x.iter().map(|&x| exact(x)).collect()
}

/// Attention of one query: `keys` has the key, the value and the bias of each attended key.
///
/// The bound is that of [`AttentionReference`](super::AttentionReference). The error $\delta_{j}$ of a score also includes the
/// errors of the query and the key, and changes a weight by a factor of at most $e^{\delta_{j}}$. For operands of f16 the bound is
/// that of the kernel on cooperative matrices, which rounds weights.
pub(super) fn attend(
    query: &[BoundedNumber],
    keys: &[(&[BoundedNumber], &[BoundedNumber])],
    scale: f64,
    stored: DType,
) -> Vec<BoundedNumber> {
    let score = |(key, _): &(&[BoundedNumber], &[BoundedNumber])| {
        let (mut sum, mut size) = (BoundedNumber::default(), 0.0);
        for (q, k) in query.iter().zip(*key) {
            let term = q.times(*k).scaled(scale);
            (sum.value, sum.bound) = (sum.value + term.value, sum.bound + term.bound);
            size += term.most();
        }
        BoundedNumber { bound: sum.bound + gamma(query.len() + 2) * size + 3.0 * U * sum.most(), ..sum }
    };
    let scores: Vec<BoundedNumber> = keys.iter().map(score).collect();
    let top = scores.iter().fold(f64::NEG_INFINITY, |top, score| top.max(score.value));
    let off_most = scores.iter().fold(0.0, |most: f64, score| most.max(score.bound));
    let total: f64 = scores.iter().map(|score| (score.value - top).exp()).sum();
    let weights: Vec<f64> = scores.iter().map(|score| (score.value - top).exp() / total).collect();
    let of_f16 = |more: f64| if stored == DType::F16 { more } else { 0.0 };
    let distance = |score: &BoundedNumber| (top - score.value + 2.0 * off_most).min(105.0) + of_f16(LATE);
    let shares = scores.iter().zip(&weights);
    let shares = shares.map(|(score, p)| p * (U * (distance(score) + 8.0) + score.bound.exp_m1()));
    let sums_off = gamma(12 * keys.len() + 80) + shares.sum::<f64>();
    let entry = |c: usize| {
        let mut y = BoundedNumber::default();
        let mut largest = 0.0f64;
        for (((_, value), score), p) in keys.iter().zip(&scores).zip(&weights) {
            let relative = U * (distance(score) + 20.0) + score.bound.exp_m1() + sums_off;
            let off = if relative < 1.0 { relative / (1.0 - relative) } else { f64::INFINITY };
            let v = value[c];
            y.value += p * v.value;
            y.bound += p * (v.most() * off + v.bound);
            y.bound += of_f16(2f64.powi(-10) * p + 2f64.powi(-24) / total) * v.most();
            largest = largest.max(v.most());
        }
        BoundedNumber { bound: y.bound + 2.0 * keys.len() as f64 * NORMAL * (1.0 + largest), ..y }
    };
    (0..query.len()).map(entry).collect()
}
