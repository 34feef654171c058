//! The gradients of an attention, by definition.

use super::attention::{AttentionReference, MOST, ScoreRow};
use super::bounds::gamma;
use super::elements::{Definition, NORMAL, U};
use crate::layout::{DType, Element};

/// The gradients of an attention's operands.
#[derive(Clone, Debug, PartialEq)]
pub struct AttentionGradientDefinitions {
    /// Of the queries (batch, heads, queries, dim).
    pub q: Definition,
    /// Of the keys (batch, key heads, keys, dim).
    pub k: Definition,
    /// Of the values (batch, key heads, keys, dim of values).
    pub v: Definition,
}

/// The inputs of the backward pass: the result of the attention, and the gradient of the result.
struct BackwardInputs {
    y: Vec<f64>,
    grad: Vec<f64>,
}

/// A score that is kept: its row and key, its weight and the gradient of the score, both with the error.
struct KeptScore {
    row: usize,
    j: usize,
    weight: [f64; 2],
    slope: [f64; 2],
}

impl AttentionReference {
    /// The gradients with respect to queries, keys and values, from the given result and its gradient. The weights are those of the
    /// definition, not of the forward pass's sums, so a fault of these sums shows as a fault of the gradients.
    ///
    /// Let $u = 2^{-23}$, $s$ a score with the error $\delta$ of the forward pass, $x = (s - m) - l$ and $p = e^x$. The error of
    /// the exponent is at most $\rho = (|x| + 20) u + \delta + \mu + \lambda$ with the errors $\mu$ and $\lambda$ of
    /// [`log_sums`](Self::log_sums). So the error of the weight is at most $\varepsilon = p (e^{\rho} - 1)$, and at most 1, because
    /// no weight is above 1. The error of the gradient $t = p (g \cdot v - \delta)$ of a score is at most $\varepsilon |g \cdot v -
    /// \delta| + (p + \varepsilon)\\, \gamma_{d + 4} (|g||v| + |y||g|)$. A sum of $n$ products adds $\gamma_{n + 6}$ times the sum
    /// of their magnitudes. Each product adds $2^{-123}$ times (1 + the sizes of its factors), because values may be flushed to
    /// zero.
    ///
    /// The kernel on cooperative matrices rounds $p$ and $t$ to f16 before they multiply operands ([`weights`](Self::weights)), in
    /// any direction: $p$ times $2^{15}$, and $t$ times the power of two that brings the largest one of a workgroup, so far, to
    /// $2^{14}$ or more. This adds $2^{-10} p + 2^{-39}$ to the error of a weight, and $2^{-10} |t| + 2^{-38} \max |t|$ to that of
    /// a gradient, with the largest one of its key head. (The kernel on matrices of flexible size has a power of two for each row,
    /// which is at least as accurate. Rounded to bf16, which has the range of f32, they need no power of two: this adds $2^{-7} p$
    /// and $2^{-7} |t|$.) The last term is small: the product with the largest $|t|$ adds less than $2^{16}$, the end of f16, to
    /// an element of a gradient, or the element is infinite. So the term is at most the smallest number of f16.
    ///
    /// # Panics
    /// If the number of elements of an operand does not match its shape.
    #[must_use]
    pub fn gradients<T: Element>(&self, y: &[T], grad: &[T]) -> AttentionGradientDefinitions {
        let known = BackwardInputs::new(y, grad);
        let ([batch, heads, kv_heads], [queries, keys], [dim, dim_v]) = (self.heads, self.lengths, self.dims);
        let zeros = |rows: usize, dim: usize| vec![[0.0, 0.0]; rows * dim];
        let mut of_q = zeros(batch * heads * queries, dim);
        let mut of_k = zeros(batch * kv_heads * keys, dim);
        let mut of_v = zeros(batch * kv_heads * keys, dim_v);
        let [terms_q, terms_k] = [keys, heads / kv_heads * queries].map(|terms| gamma(terms + 6));
        let pairs = self.rounded(self.pairs(&known).collect());
        for KeptScore { row, j, weight, slope } in pairs {
            let key = self.kv_head(row) * keys + j;
            let slope = slope.map(|x| x * self.scale.abs());
            let sign = self.scale.signum();
            for c in 0..dim {
                let (q, k) = (self.q[row * dim + c], self.k[key * dim + c]);
                add(&mut of_q[row * dim + c], slope, sign * k, terms_q);
                add(&mut of_k[key * dim + c], slope, sign * q, terms_k);
            }
            for c in 0..dim_v {
                add(&mut of_v[key * dim_v + c], weight, known.grad[row * dim_v + c], terms_k);
            }
        }
        let [q, k, v] = [of_q, of_k, of_v].map(|of| Definition::of(of.into_iter()));
        AttentionGradientDefinitions { q, k, v }
    }

    /// The gradient of a bias of the shape (1 or batch, 1 or heads, 1 or queries, 1 or keys): the gradients of the scores, summed where it
    /// has one element, as in [`gradients`](Self::gradients).
    ///
    /// # Panics
    /// If the number of elements of an operand does not match its shape.
    #[must_use]
    pub fn bias_gradient<T: Element>(&self, y: &[T], grad: &[T], shape: [usize; 4]) -> Definition {
        let ([_, heads, _], [queries, keys]) = (self.heads, self.lengths);
        let elements: usize = shape.iter().product();
        let terms = gamma(self.heads[0] * heads * queries * keys / elements.max(1) + 6);
        let mut of = vec![[0.0, 0.0]; elements];
        for KeptScore { row, j, slope, .. } in self.pairs(&BackwardInputs::new(y, grad)) {
            let index = [row / queries / heads, row / queries % heads, row % queries, j];
            let place = |at, (&extent, index): (&usize, usize)| at * extent + index.min(extent - 1);
            add(&mut of[shape.iter().zip(index).fold(0, place)], slope, 1.0, terms);
        }
        Definition::of(of.into_iter())
    }

    /// The pairs with the errors of weights and gradients that are rounded to f16 or bf16.
    fn rounded(&self, mut pairs: Vec<KeptScore>) -> Vec<KeptScore> {
        // The unit roundoff in any direction; then the error of a number far below the largest one.
        let [unit, of_weight, of_slope] = match self.weights {
            DType::F16 => [-10, -39, -38].map(|exponent| 2f64.powi(exponent)),
            DType::Bf16 => [2f64.powi(-7), 0.0, 0.0],
            _ => return pairs,
        };
        let mut largest = vec![0.0f64; self.heads[0] * self.heads[2]];
        for KeptScore { row, slope: [slope, off], .. } in &pairs {
            let of_head = &mut largest[self.kv_head(*row)];
            *of_head = of_head.max(slope.abs() + off);
        }
        for KeptScore { row, weight, slope, .. } in &mut pairs {
            weight[1] += unit * (weight[0] + weight[1]) + of_weight;
            slope[1] += unit * (slope[0].abs() + slope[1]) + of_slope * largest[self.kv_head(*row)];
        }
        pairs
    }

    /// The scores that are kept, row by row.
    fn pairs<'a>(&'a self, known: &'a BackwardInputs) -> impl Iterator<Item = KeptScore> + 'a {
        let ([batch, heads, _], [queries, keys]) = (self.heads, self.lengths);
        let dim = self.dims[1];
        assert_eq!(known.y.len(), batch * heads * queries * dim, "the number of the result's elements");
        assert_eq!(known.grad.len(), known.y.len(), "the number of the gradient's elements");
        (0..batch * heads * queries).flat_map(move |row| {
            let grad = &known.grad[row * dim..][..dim];
            let of_values = &self.v[self.kv_head(row) * keys * dim..][..keys * dim];
            let [delta, size] = product(grad, &known.y[row * dim..]);
            let ScoreRow { keys: of_row, known: [[_, of_top], [_, of_logarithm]], .. } = self.row(row);
            of_row.into_iter().map(move |(j, [x, off])| {
                let [dp, size_v] = product(grad, &of_values[j * dim..]);
                let of_exponent = U * (x.abs().min(105.0) + 20.0) + off + of_top + of_logarithm;
                let p = x.exp();
                let of_weight = ((x + of_exponent).exp() - p).min(MOST);
                let slope = p * (dp - delta);
                let rounding = (p + of_weight) * gamma(dim + 4) * (size + size_v);
                let flushed = 8.0 * NORMAL * (1.0 + (dp - delta).abs());
                KeptScore {
                    row,
                    j,
                    weight: [p, of_weight + NORMAL],
                    slope: [slope, (dp - delta).abs() * of_weight + rounding + flushed],
                }
            })
        })
    }
}

impl BackwardInputs {
    fn new<T: Element>(y: &[T], grad: &[T]) -> Self {
        let reals = |of: &[T]| of.iter().map(|x| x.to_f64()).collect();
        Self { y: reals(y), grad: reals(grad) }
    }
}

/// A dot product, and that of the magnitudes.
fn product(a: &[f64], b: &[f64]) -> [f64; 2] {
    a.iter().zip(b).fold([0.0, 0.0], |[sum, size], (a, b)| [sum + a * b, size + (a * b).abs()])
}

/// Adds a product to a sum, where the first factor has an error.
fn add(to: &mut [f64; 2], [value, off]: [f64; 2], by: f64, terms: f64) {
    to[0] += value * by;
    to[1] += (off + terms * (value.abs() + off)) * by.abs() + 8.0 * NORMAL * (1.0 + by.abs());
}
