//! Attention, by definition.

use super::bounds::gamma;
use super::elements::{Definition, NORMAL, U};
use crate::layout::{DType, Element};

/// An attention of row-major operands: queries (batch, heads, queries, dim), keys (batch, key heads, keys, dim) and values (batch, key
/// heads, keys, dim of values).
///
/// Let $u = 2^{-23}$, $n$ the number of keys, $p_{j}$ the weights of a row, and $d_{j}$ the distances to its largest score, limited to 105. A score
/// is off by at most $\delta_{j} = \gamma_{d + 2}\, s \sum |q||k| + 3 u (|b_{j}| + |s_{j}|)$. The relative errors are: of an exponential $(d_{j} +
/// 20) u + \delta_{j}$; of the sum of exponentials and the sums of values $\sigma = \gamma_{12 n + 80} + \sum_{j} p_{j} (d_{j} + 8) u + p_{j}
/// \delta_{j}$, as they are rescaled at most $n$ times.
///
/// The kernel on cooperative matrices rounds weights to f16 before it multiplies values ([`weights`](Self::weights)), in any direction; subnormal
/// numbers are not flushed. Exponentials are of distances to a score that is up to 8 below the largest one. Their sum $l$ is at least 1. This adds $2^{-10}$ to
/// the relative error of each weight, $2^{-24} \sum_{j} |v_{j}| / l$ to that of a result, and $8 u$ to that of an exponential.
#[derive(Clone, Debug, PartialEq)]
pub struct AttentionReference {
    /// The queries.
    pub q: Vec<f64>,
    /// The keys.
    pub k: Vec<f64>,
    /// The values.
    pub v: Vec<f64>,
    /// Batch, heads, key heads.
    pub heads: [usize; 3],
    /// Queries, keys.
    pub lengths: [usize; 2],
    /// The head dims of queries and keys, and of values.
    pub dims: [usize; 2],
    /// The scale.
    pub scale: f64,
    /// What is added to the scores (batch, heads, queries, keys); `None` is nothing.
    pub bias: Option<Vec<f64>>,
    /// Which keys each query attends, of the same shape; `None` is all.
    pub kept: Option<Vec<bool>>,
    /// The type to which weights are rounded before they multiply values: [`DType::F16`] in the kernel on cooperative matrices.
    pub weights: DType,
}

/// The distance at which the kernel on cooperative matrices rescales sums.
pub(super) const LATE: f64 = 8.0;

/// The scores of a row that are kept.
struct Row {
    keys: Vec<usize>,
    weights: Vec<f64>,
    /// The relative errors of the weights, and of all sums.
    off: Vec<f64>,
    sums_off: f64,
    /// The sum of exponentials of distances to the largest score.
    total: f64,
    lse: f64,
    lse_off: f64,
}

impl AttentionReference {
    /// An attention without bias and masks.
    #[must_use]
    pub fn new<T: Element>(
        [q, k, v]: [&[T]; 3],
        heads: [usize; 3],
        lengths: [usize; 2],
        dims: [usize; 2],
        scale: f64,
    ) -> Self {
        let reals = |of: &[T]| of.iter().map(|x| x.to_f64()).collect();
        let [q, k, v] = [reals(q), reals(k), reals(v)];
        Self { q, k, v, heads, lengths, dims, scale, bias: None, kept: None, weights: DType::F32 }
    }

    /// The result (batch, heads, queries, dim of values): $\sum_{j} p_{j} v_{j}$, within $\sum_{j} p_{j} |v_{j}| (\varepsilon_{j} +
    /// \sigma) + n 2^{-125} (1 + \max |v|)$ with the relative errors $\varepsilon_{j}$ of the weights. A row without keys is 0.
    ///
    /// # Panics
    /// If an operand has not as many elements as its shape.
    #[must_use]
    pub fn attention(&self) -> Definition {
        let [_, keys] = self.lengths;
        let dim = self.dims[1];
        let entries = self.rows().flat_map(|(at, row)| {
            let of_v = self.kv_head(at) * keys * dim;
            (0..dim).map(move |c| self.entry(&row, of_v + c, dim)).collect::<Vec<_>>()
        });
        Definition::of(entries.collect::<Vec<_>>().into_iter())
    }

    /// The logarithms of the sums of exponentials (batch, heads, queries), within
    /// $u (3 |t| + 10 \ln \sum + 3 |l|) + 2 \sigma + 2 \max \delta$ of $l$, where $t$ is the largest score. Of a row without keys it is minus
    /// infinity.
    ///
    /// # Panics
    /// If an operand has not as many elements as its shape.
    #[must_use]
    pub fn log_sums(&self) -> Definition {
        Definition::of(self.rows().map(|(_, row)| [row.lse, row.lse_off]).collect::<Vec<_>>().into_iter())
    }

    fn entry(&self, row: &Row, first: usize, dim: usize) -> [f64; 2] {
        let [mut value, mut tolerance, mut largest] = [0.0, 0.0, 0.0f64];
        for ((&j, &p), &off) in row.keys.iter().zip(&row.weights).zip(&row.off) {
            let v = self.v[first + j * dim];
            value += p * v;
            let relative = off + row.sums_off;
            // A bound of all of the result says nothing.
            tolerance +=
                if relative < 1.0 { p * v.abs() * relative / (1.0 - relative) } else { f64::INFINITY };
            if self.weights == DType::F16 {
                tolerance += (2f64.powi(-10) * p + 2f64.powi(-24) / row.total) * v.abs();
            }
            largest = largest.max(v.abs());
        }
        [value, tolerance + 2.0 * row.keys.len() as f64 * NORMAL * (1.0 + largest)]
    }

    /// The key head of a row, counted over the batch.
    pub(super) fn kv_head(&self, row: usize) -> usize {
        let [_, heads, kv_heads] = self.heads;
        let head = row / self.lengths[0];
        head / heads * kv_heads + head % heads / (heads / kv_heads)
    }

    fn rows(&self) -> impl Iterator<Item = (usize, Row)> + '_ {
        let [batch, heads, kv_heads] = self.heads;
        let [queries, keys] = self.lengths;
        let [dim, dim_v] = self.dims;
        assert_eq!(self.q.len(), batch * heads * queries * dim, "the number of queries' elements");
        assert_eq!(self.k.len(), batch * kv_heads * keys * dim, "the number of keys' elements");
        assert_eq!(self.v.len(), batch * kv_heads * keys * dim_v, "the number of values' elements");
        (0..batch * heads * queries).map(|at| (at, self.row(at)))
    }

    /// The scores of a row that are kept, with their keys and errors.
    pub(super) fn kept_scores(&self, at: usize) -> Vec<(usize, [f64; 2])> {
        let (keys, dim) = (self.lengths[1], self.dims[0]);
        let query = &self.q[at * dim..][..dim];
        let of_keys = &self.k[self.kv_head(at) * keys * dim..][..keys * dim];
        let score = |j: usize| {
            let terms = query.iter().zip(&of_keys[j * dim..]).map(|(q, k)| self.scale * q * k);
            let (dot, size) = terms.fold((0.0, 0.0), |(sum, all), x| (sum + x, all + x.abs()));
            let bias = self.bias.as_ref().map_or(0.0, |bias| bias[at * keys + j]);
            let off = gamma(dim + 2) * size + 3.0 * U * (bias.abs() + (dot + bias).abs());
            [dot + bias, if bias.is_finite() { off } else { 0.0 }]
        };
        let kept = (0..keys).filter(|j| self.kept.as_ref().is_none_or(|kept| kept[at * keys + j]));
        kept.map(|j| (j, score(j))).collect()
    }

    fn row(&self, at: usize) -> Row {
        let (kept, scores): (Vec<usize>, Vec<[f64; 2]>) = self.kept_scores(at).into_iter().unzip();
        // NOTE: `max` ignores NaN, but the sum does not.
        let top = scores.iter().map(|&[score, _]| score).fold(f64::NEG_INFINITY, f64::max);
        if top.is_infinite() && top < 0.0 {
            let none = Vec::new();
            let (weights, off) = (vec![], vec![]);
            return Row { keys: none, weights, off, sums_off: 0.0, total: 0.0, lse: top, lse_off: 0.0 };
        }
        let total: f64 = scores.iter().map(|[score, _]| (score - top).exp()).sum();
        let weights: Vec<f64> = scores.iter().map(|[score, _]| (score - top).exp() / total).collect();
        let late = if self.weights == DType::F16 { LATE } else { 0.0 };
        let distance = |score: f64| (top - score).min(105.0) + late;
        let shares =
            scores.iter().zip(&weights).map(|([score, off], p)| p * (U * (distance(*score) + 8.0) + off));
        let sums_off = gamma(12 * kept.len() + 80) + shares.sum::<f64>();
        let lse = top + total.ln();
        let most_off = scores.iter().map(|&[_, off]| off).fold(0.0, f64::max);
        let rounding = U * (3.0 * top.abs() + 10.0 * total.ln() + 3.0 * lse.abs());
        let off = scores.iter().map(|[score, off]| U * (distance(*score) + 20.0) + off).collect();
        Row {
            keys: kept,
            weights,
            off,
            sums_off,
            total,
            lse,
            lse_off: rounding + 2.0 * (sums_off + most_off),
        }
    }
}
