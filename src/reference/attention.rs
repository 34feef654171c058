//! Attention, by definition.

use super::bounds::gamma;
use super::elements::{Definition, NORMAL, U};
use crate::layout::{DType, Element};

/// An attention of row-major operands: queries (batch, heads, queries, dim), keys (batch, key heads, keys, dim) and values (batch, key
/// heads, keys, dim of values).
///
/// Let $u = 2^{-23}$, $n$ the number of keys, $p_{j}$ the weights of a row, and $d_{j}$ the distances to its largest score, limited
/// to 105. The error of a scaled product is at most $\eta_{j} = \gamma_{d + 2}\\, s \sum |q||k| + 3 u |s\\, q \cdot k|$. By
/// definition, its sum with a bias is a number of f32. For example, near a mask of $-10^{9}$ the numbers of f32 are 64 apart, so
/// all scores of usual products are equal, and their keys share the weight. The sum is rounded to the nearest, as on devices. So
/// the error $\delta_{j}$ of a score is the distance to the rounded sums of a product that is $\eta_{j}$ larger or smaller. (A bias
/// that is no number of f32, such as one from slopes, has an additional error of $3 u |b_{j}|$. Without a bias, $\delta_{j} =
/// \eta_{j}$.)
///
/// The errors, relative to the sum of exponentials, are: of an exponential $\alpha_{j} = p_{j} (d_{j} + 20) u + p_{j}
/// (e^{\delta_{j}} - 1)$; of the sum of exponentials and the sums of values $\sigma = \gamma_{12 n + 80} + \sum_{j} p_{j} (d_{j} +
/// 8) u + p_{j} (e^{\delta_{j}} - 1)$, because they are rescaled at most $n$ times. The error of a weight is at most
/// $\varepsilon_{j} = (\alpha_{j} + p_{j} \sigma) / (1 - \sigma)$, and at most 1, because the computed and the exact weight are
/// from 0 to 1.
///
/// The kernel on cooperative matrices rounds weights to f16 before it multiplies values ([`weights`](Self::weights)), in any
/// direction; subnormal numbers are not flushed. Exponentials are of distances to a score that is up to 8 below the largest one.
/// Their sum $l$ is at least 1. This adds $2^{-10}$ to the relative error of each weight, $2^{-24} \sum_{j} |v_{j}| / l$ to that of
/// a result, and $8 u$ to that of an exponential. [`gradients`](Self::gradients) describes its effect on gradients. Weights that
/// are rounded to bf16, on matrices of flexible size, add $2^{-7}$ to their relative error.
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
    /// The bias that is added to the scores (batch, heads, queries, keys); `None`: no bias.
    pub bias: Option<Vec<f64>>,
    /// Whether a query attends a key, in the same shape; `None`: all keys.
    pub kept: Option<Vec<bool>>,
    /// The type to which weights are rounded before they multiply values: [`DType::F16`] in the kernels on cooperative matrices,
    /// [`DType::Bf16`] for operands of bf16 in the kernel on matrices of flexible size.
    pub weights: DType,
}

/// The distance at which the kernel on cooperative matrices rescales sums.
pub(super) const LATE: f64 = 8.0;

/// The largest error of a weight: the computed and the exact weight are from 0 to 1, except for rounding.
pub(super) const MOST: f64 = 1.0 + 1e-3;

/// The scores of a row that are kept.
#[derive(Default)]
pub(super) struct ScoreRow {
    /// The keys, with the exponents of their weights, $\ln p_{j}$, and the errors of the scores.
    pub(super) keys: Vec<(usize, [f64; 2])>,
    /// The weights, with their errors.
    weights: Vec<[f64; 2]>,
    /// The sum of exponentials of distances to the largest score.
    total: f64,
    /// The largest score and the logarithm of that sum, with their errors.
    pub(super) known: [[f64; 2]; 2],
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

    /// The result (batch, heads, queries, dim of values): $\sum_{j} p_{j} v_{j}$, within $\sum_{j} \varepsilon_{j} |v_{j}| + n 2^{-125} (1 +
    /// \max |v|)$. A row without keys is 0.
    ///
    /// # Panics
    /// If the number of elements of an operand does not match its shape.
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

    /// The logarithms of the sums of exponentials in two parts (batch, heads, queries, 2): the largest score $m$, within $\mu$, the
    /// most that a score can be above $m$, or that one can be below; and $l = \ln \sum_{j} e^{s_{j} - m}$, within $\sigma / (1 -
    /// \sigma) + \mu + u (10 l + 30)$, and always from 0 to $\ln n$. For a row without keys both are minus infinity.
    ///
    /// # Panics
    /// If the number of elements of an operand does not match its shape.
    #[must_use]
    pub fn log_sums(&self) -> Definition {
        Definition::of(self.rows().flat_map(|(_, row)| row.known).collect::<Vec<_>>().into_iter())
    }

    fn entry(&self, row: &ScoreRow, first: usize, dim: usize) -> [f64; 2] {
        let [mut value, mut tolerance, mut largest] = [0.0, 0.0, 0.0f64];
        for (&(j, _), &[p, off]) in row.keys.iter().zip(&row.weights) {
            let v = self.v[first + j * dim];
            value += p * v;
            tolerance += off * v.abs();
            let [relative, least] = match self.weights {
                DType::F16 => [2f64.powi(-10), 2f64.powi(-24)],
                DType::Bf16 => [2f64.powi(-7), NORMAL],
                _ => [0.0; 2],
            };
            tolerance += (relative * p + least / row.total) * v.abs();
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

    fn rows(&self) -> impl Iterator<Item = (usize, ScoreRow)> + '_ {
        let [batch, heads, kv_heads] = self.heads;
        let [queries, keys] = self.lengths;
        let [dim, dim_v] = self.dims;
        assert_eq!(self.q.len(), batch * heads * queries * dim, "the number of queries' elements");
        assert_eq!(self.k.len(), batch * kv_heads * keys * dim, "the number of keys' elements");
        assert_eq!(self.v.len(), batch * kv_heads * keys * dim_v, "the number of values' elements");
        (0..batch * heads * queries).map(|at| (at, self.row(at)))
    }

    /// The scores of a row that are kept, with their keys and errors.
    fn kept_scores(&self, at: usize) -> Vec<(usize, [f64; 2])> {
        let (keys, dim) = (self.lengths[1], self.dims[0]);
        let query = &self.q[at * dim..][..dim];
        let of_keys = &self.k[self.kv_head(at) * keys * dim..][..keys * dim];
        let score = |j: usize| {
            let terms = query.iter().zip(&of_keys[j * dim..]).map(|(q, k)| self.scale * q * k);
            let (dot, size) = terms.fold((0.0, 0.0), |(sum, all), x| (sum + x, all + x.abs()));
            let off = gamma(dim + 2) * size + 3.0 * U * dot.abs();
            match self.bias.as_ref().map_or(0.0, |bias| bias[at * keys + j]) {
                0.0 => [dot, off],
                bias => with_bias([dot, off], bias),
            }
        };
        let kept = (0..keys).filter(|j| self.kept.as_ref().is_none_or(|kept| kept[at * keys + j]));
        kept.map(|j| (j, score(j))).collect()
    }

    pub(super) fn row(&self, at: usize) -> ScoreRow {
        let (kept, scores): (Vec<usize>, Vec<[f64; 2]>) = self.kept_scores(at).into_iter().unzip();
        // NOTE: `max` ignores NaN, but the sum does not.
        let top = scores.iter().map(|&[score, _]| score).fold(f64::NEG_INFINITY, f64::max);
        if top.is_infinite() && top < 0.0 {
            return ScoreRow { known: [[top, 0.0]; 2], ..ScoreRow::default() };
        }
        let total: f64 = scores.iter().map(|[score, _]| (score - top).exp()).sum();
        let late = if self.weights == DType::F16 { LATE } else { 0.0 };
        // The weight, the error from its score, and the units of error of its exponential.
        let parts = scores.iter().map(|[score, off]| {
            let p = (score - top).exp() / total;
            let more = if *off == 0.0 { 0.0 } else { (score - top + off).exp() / total - p };
            [p, more, U * ((top - score).min(105.0) + late + 8.0)]
        });
        let parts: Vec<[f64; 3]> = parts.collect();
        let of_sums = parts.iter().map(|[p, more, units]| p * units + more);
        let sums_off = gamma(12 * kept.len() + 80) + of_sums.sum::<f64>();
        let weights = parts.iter().map(|[p, more, units]| {
            let off = p * (units + 12.0 * U) + more;
            [*p, if sums_off < 1.0 { ((off + p * sums_off) / (1.0 - sums_off)).min(MOST) } else { MOST }]
        });
        let of_top = |[score, off]: &[f64; 2]| if *score == top { *off } else { score + off - top };
        let top_off = scores.iter().map(of_top).fold(0.0, f64::max);
        let logarithm = total.ln();
        let whole = (kept.len() as f64).ln();
        let of_logarithm = if sums_off < 1.0 { sums_off / (1.0 - sums_off) + top_off } else { whole };
        let of_logarithm = of_logarithm.min(whole) + U * (10.0 * logarithm + 30.0);
        ScoreRow {
            weights: weights.collect(),
            keys: kept
                .iter()
                .zip(&scores)
                .map(|(j, [score, off])| (*j, [score - top - logarithm, *off]))
                .collect(),
            total,
            known: [[top, top_off], [logarithm, of_logarithm]],
        }
    }
}

/// The sum of a product and a bias, with the error of the product, as a number of f32.
fn with_bias([dot, off]: [f64; 2], bias: f64) -> [f64; 2] {
    if !bias.is_finite() {
        return [dot + bias, 0.0];
    }
    #[expect(clippy::cast_possible_truncation, reason = "rounds to the nearest")]
    let nearest = |x: f64| f64::from(x as f32);
    let off = off + if nearest(bias) == bias { 0.0 } else { 3.0 * U * bias.abs() };
    let [low, score, high] = [-off, 0.0, off].map(|off| nearest(dot + bias + off));
    [score, (high - score).max(score - low)]
}
