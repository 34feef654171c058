//! A block of a transformer, by definition.

use super::activation::{activate, activation_tolerance};
use super::bounded::{BoundedNumber, defined};
use super::elements::Definition;
use super::multi_head::MultiHeadReference;
use super::transformer_steps::{WeightAndBias, given, stored};
use crate::attention::layer::kinds::{BlockNorm, FeedForward, NormPosition};
use crate::layout::Element;
use crate::ops::Activation;

/// A [`TransformerBlock`](crate::attention::TransformerBlock) in f64, with a bound on the error of each result.
///
/// The bound follows the block step by step, as that of [`MultiHeadReference`]. Norms have the bounds of [`layer_norm`](super::layer_norm())
/// and [`rms_norm`](super::rms_norm()), for operands that have errors: an error of an element is multiplied by one over the deviation.
#[derive(Clone, Debug, PartialEq)]
pub struct TransformerBlockReference {
    /// The attention. All tensors have its type.
    pub attention: MultiHeadReference,
    /// The two layers of the feed-forward part, (inner, embed) and (embed, inner); the first of `SwiGLU` is (2 inner, embed), the gate first.
    pub linear: [WeightAndBias; 2],
    /// The weights of the two norms, and the biases of layer norms.
    pub norm: [WeightAndBias; 2],
    /// The kind of the norms.
    pub norm_kind: BlockNorm,
    /// Where they are.
    pub position: NormPosition,
    /// The feed-forward part.
    pub feed_forward: FeedForward,
    /// The $\varepsilon$ of the norms, which is added to a variance or mean square.
    pub eps: f64,
}

impl TransformerBlockReference {
    /// The block's result for `x`, (batch, length, embed).
    ///
    /// # Panics
    /// If the number of elements of a tensor does not match its shape.
    #[must_use]
    pub fn forward<T: Element>(&self, x: &[T], [batch, length]: [usize; 2]) -> Definition {
        let x: Vec<f64> = x.iter().map(|x| x.to_f64()).collect();
        assert_eq!(x.len(), batch * length * self.embed(), "the number of elements of x");
        let x = given(&x);
        let [norm1, norm2] =
            [0, 1].map(|which| move |x: &[BoundedNumber]| self.norm[which].norm(x, self.norm_kind, self.eps));
        let attended = |normed: &[BoundedNumber], residual: &[BoundedNumber]| {
            let sizes = [batch, length, length];
            self.stored(self.attention.attended(normed, normed, sizes, Some(residual)))
        };
        let y = match self.position {
            NormPosition::Pre => {
                let h = attended(&self.stored(norm1(&x)), &x);
                self.fed(&self.stored(norm2(&h)), &h)
            }
            NormPosition::Post => {
                let h = self.stored(norm1(&attended(&x, &x)));
                norm2(&self.stored(self.fed(&h, &h)))
            }
        };
        defined(&y)
    }

    fn embed(&self) -> usize {
        self.norm[0].weight.len()
    }

    fn stored(&self, x: Vec<BoundedNumber>) -> Vec<BoundedNumber> {
        stored(x, self.attention.stored)
    }

    /// The feed-forward part of `x` plus a residual, before it is stored.
    fn fed(&self, x: &[BoundedNumber], residual: &[BoundedNumber]) -> Vec<BoundedNumber> {
        let [first, second] = &self.linear;
        let inner = second.weight.len() / self.embed();
        let map = |activation| self.stored(first.map(x, self.embed(), activation, None));
        let hidden = match self.feed_forward {
            FeedForward::Plain(activation) => map(activation),
            FeedForward::SwiGlu => {
                let both = map(Activation::None);
                let gated = |row: &[BoundedNumber]| -> Vec<BoundedNumber> {
                    let (gate, up) = row.split_at(inner);
                    gate.iter().zip(up).map(|(gate, up)| silu(*gate).times(*up).rounded()).collect()
                };
                self.stored(both.chunks_exact(2 * inner).flat_map(gated).collect())
            }
        };
        second.map(&hidden, inner, Activation::None, Some(residual))
    }
}

/// The activation of a gate.
fn silu(of: BoundedNumber) -> BoundedNumber {
    let bound = activation_tolerance(Activation::Silu, of.value, of.bound);
    BoundedNumber { value: activate(Activation::Silu, of.value), bound }
}
