//! Multi-head attention, by definition.

use super::bounded::{BoundedNumber, defined};
use super::elements::Definition;
use super::rotary::rotate_rows;
use super::transformer_steps::{WeightAndBias, attend, given, stored};
use crate::layout::{DType, Element};
use crate::ops::{Activation, RotaryPairs};

/// A [`MultiHeadAttention`](crate::attention::MultiHeadAttention) in f64, with a bound on the error of each result.
///
/// The bound follows the layer step by step: the projections are products and are stored, rotations are stored, so are the results
/// of heads, and the last product sums those. A step has the bound of its own definition ([`tolerance`](super::tolerance),
/// [`rotary`](super::rotary()), [`AttentionReference`](super::AttentionReference)). The errors of its operands change its result to
/// first order, and the products of two errors are added. An error $\delta_{j}$ of a score changes its weight by a factor of at
/// most $e^{\delta_{j}}$.
#[derive(Clone, Debug, PartialEq)]
pub struct MultiHeadReference {
    /// The number of heads, and the number of key heads.
    pub heads: [usize; 2],
    /// The stacked projections: rows of queries, keys and values.
    pub in_proj: WeightAndBias,
    /// The map of the results of the heads, (embed, embed).
    pub out_proj: WeightAndBias,
    /// The pairs of elements that rotate together, and the angles (length, pairs), if there is a rotation.
    pub rotary: Option<(RotaryPairs, Vec<f64>)>,
    /// Whether a query attends a key, (batch, heads, queries, keys); `None`: all keys.
    pub kept: Option<Vec<bool>>,
    /// The type of all tensors.
    pub stored: DType,
}

impl MultiHeadReference {
    /// Self attention of `x`, (batch, length, embed).
    ///
    /// # Panics
    /// If the number of elements of a tensor does not match its shape.
    #[must_use]
    pub fn forward<T: Element>(&self, x: &[T], [batch, length]: [usize; 2]) -> Definition {
        let x: Vec<f64> = x.iter().map(|x| x.to_f64()).collect();
        assert_eq!(x.len(), batch * length * self.embed(), "the number of elements of x");
        let x = given(&x);
        defined(&self.attended(&x, &x, [batch, length, length], None))
    }

    /// Attention of `query` (batch, length, embed) to `key_value` (batch, keys, embed). Nothing is rotated.
    ///
    /// # Panics
    /// As [`forward`](Self::forward).
    #[must_use]
    pub fn forward_cross<T: Element>(&self, query: &[T], key_value: &[T], sizes: [usize; 3]) -> Definition {
        let [batch, length, keys] = sizes;
        let real = |of: &[T], rows: usize| {
            assert_eq!(of.len(), rows * self.embed(), "the number of elements");
            given(&of.iter().map(|x| x.to_f64()).collect::<Vec<_>>())
        };
        let [query, key_value] = [real(query, batch * length), real(key_value, batch * keys)];
        defined(&Self { rotary: None, ..self.clone() }.attended(&query, &key_value, sizes, None))
    }

    /// The features of an operand.
    fn embed(&self) -> usize {
        self.out_proj.weight.len().isqrt()
    }

    /// Attention plus a residual, before it is stored.
    pub(super) fn attended(
        &self,
        query: &[BoundedNumber],
        key_value: &[BoundedNumber],
        [batch, length, keys]: [usize; 3],
        residual: Option<&[BoundedNumber]>,
    ) -> Vec<BoundedNumber> {
        let (embed, [heads, kv_heads]) = (self.embed(), self.heads);
        let dim = embed / heads;
        let of_keys = kv_heads * dim;
        let projected = |x: &[BoundedNumber], first: usize, rows: usize| {
            let map = self.in_proj.rows(first, first + rows, embed);
            stored(map.map(x, embed, Activation::None, None), self.stored)
        };
        let mut q = projected(query, 0, embed);
        let mut k = projected(key_value, embed, of_keys);
        let v = projected(key_value, embed + of_keys, of_keys);
        self.rotate(&mut q, [length, heads, dim]);
        self.rotate(&mut k, [keys, kv_heads, dim]);
        let mut results = vec![BoundedNumber::default(); batch * length * embed];
        for (at, result) in results.chunks_exact_mut(dim).enumerate() {
            let (head, i, of_batch) = (at % heads, at / heads % length, at / heads / length);
            let of_key = |j: usize| {
                let first = ((of_batch * keys + j) * kv_heads + head / (heads / kv_heads)) * dim;
                (&k[first..first + dim], &v[first..first + dim])
            };
            let row = ((of_batch * heads + head) * length + i) * keys;
            let is_kept = |j: &usize| self.kept.as_ref().is_none_or(|kept| kept[row + j]);
            let attended: Vec<_> = (0..keys).filter(is_kept).map(of_key).collect();
            let scale = 1.0 / (dim as f64).sqrt();
            result.copy_from_slice(&attend(&q[at * dim..][..dim], &attended, scale, self.stored));
        }
        self.out_proj.map(&stored(results, self.stored), embed, Activation::None, residual)
    }

    /// Rotates rows of heads, if they rotate.
    fn rotate(&self, x: &mut [BoundedNumber], [length, heads, dim]: [usize; 3]) {
        let Some((pairs, angles)) = &self.rotary else { return };
        rotate_rows(x, [length, heads, dim], *pairs, angles);
        let turned = stored(x.to_vec(), self.stored);
        x.copy_from_slice(&turned);
    }
}
