//! A block's parameters.

use super::norm::Norm;
use crate::Result;
use crate::attention::layer::kinds::{FeedForward, NormPosition};
use crate::attention::layer::multi_head::MultiHeadAttention;
use crate::attention::layer::multi_head::cast;
use crate::error::call;
use crate::gemm::Linear;
use crate::layout::Real;
use crate::ops::training::{ParameterMut, Parameters};
use crate::tensor::Tensor;

/// The layer's name in errors.
pub(super) const OP: &str = "TransformerBlock";

/// A block of a transformer, as `torch.nn.TransformerEncoderLayer` with `batch_first` and without dropout: self attention and a
/// feed-forward part, each with a residual and a norm. A causal mask makes it the block of a decoder that generates text.
///
/// The builder sets the position of the norms ([`NormPosition`]), their kind ([`BlockNorm`](crate::attention::BlockNorm)), the
/// feed-forward part ([`FeedForward`]), key heads, biases and a rotary table.
///
/// # Launches
/// Seven: one product for all projections, the attention, the product of the heads' results with bias and residual, two products of
/// the feed-forward part, with bias and activation and with bias and residual, and two norms. `SwiGLU` takes one more, and so does
/// a rotary table. Long sums of few rows (split-k), and few queries of many keys, are computed in parts, which one more launch
/// joins.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::Fill;
/// use tilewise::attention::{
///     AttentionOptions, Biases, BlockNorm, CausalFrom, FeedForward, NormPosition, TransformerBlock,
/// };
/// use tilewise::ops::{Rotary, RotaryPairs};
///
/// // A block of Llama: 64 features, 4 heads of 16 elements, 2 key heads, 172 inner features.
/// let rotary = Rotary::new(&gpu, RotaryPairs::Halves, 16, 10_000.0, 512)?;
/// let block = TransformerBlock::<f32>::builder(64, 4, 172)
///     .kv_heads(2)
///     .norm_position(NormPosition::Pre)
///     .norm(BlockNorm::Rms)
///     .feed_forward(FeedForward::SwiGlu)
///     .biases(Biases::None)
///     .rotary(&rotary)
///     .random(&gpu)?;
/// let causal = AttentionOptions::new().causal(CausalFrom::BottomRight);
/// let mut cache = block.attention().cache(1, 512)?;
/// let prompt = gpu.random([1, 9, 64], Fill::Uniform, 1)?; // (batch, length, embed)
/// assert_eq!(block.forward_cached(&prompt, &mut cache, &causal)?.shape(), [1, 9, 64]);
/// assert_eq!(cache.len(), 9);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct TransformerBlock<T: Real> {
    pub(super) position: NormPosition,
    pub(super) feed_forward: FeedForward,
    pub(super) attention: MultiHeadAttention<T>,
    /// The first layer of the feed-forward part. It has the activation, or none with `SwiGLU`.
    pub(super) linear1: Linear<T>,
    pub(super) linear2: Linear<T>,
    pub(super) norm1: Norm<T>,
    pub(super) norm2: Norm<T>,
}

impl<T: Real> TransformerBlock<T> {
    /// The block with parameters of another type.
    ///
    /// # Precision
    /// As [`Tensor::cast`].
    /// # Errors
    /// As [`Tensor::cast`].
    pub fn cast<P: Real>(&self) -> Result<TransformerBlock<P>> {
        call("TransformerBlock::cast", || {
            Ok(TransformerBlock {
                position: self.position,
                feed_forward: self.feed_forward,
                attention: self.attention.cast()?,
                linear1: cast(&self.linear1, self.linear1.activation())?,
                linear2: cast(&self.linear2, self.linear2.activation())?,
                norm1: self.norm1.cast()?,
                norm2: self.norm2.cast()?,
            })
        })
    }

    /// The attention. Its [`cache`](MultiHeadAttention::cache) is that of the block.
    #[must_use]
    pub fn attention(&self) -> &MultiHeadAttention<T> {
        &self.attention
    }

    /// The features of the operand and of the result.
    #[must_use]
    pub fn embed(&self) -> usize {
        self.attention.embed()
    }

    /// The features between the two layers of the feed-forward part.
    #[must_use]
    pub fn inner(&self) -> usize {
        self.linear2.weight().shape()[1]
    }

    /// The feed-forward part.
    #[must_use]
    pub fn feed_forward(&self) -> FeedForward {
        self.feed_forward
    }

    /// The position of the norms.
    #[must_use]
    pub fn norm_position(&self) -> NormPosition {
        self.position
    }
}

impl<T: Real> Parameters<T> for TransformerBlock<T> {
    /// The names of `PyTorch`: those of [`MultiHeadAttention`] after `self_attn.`, then `linear1.weight`, `linear1.bias`, `linear2.weight`,
    /// `linear2.bias`, `norm1.weight`, `norm1.bias`, `norm2.weight` and `norm2.bias`, without a bias that the block lacks.
    fn parameters(&self) -> Vec<(String, &Tensor<T>)> {
        let Self { attention, linear1, linear2, norm1, norm2, .. } = self;
        let all = [
            attention.parameters_below("self_attn."),
            linear1.parameters_below("linear1."),
            linear2.parameters_below("linear2."),
            norm1.parameters_below("norm1."),
            norm2.parameters_below("norm2."),
        ];
        all.into_iter().flatten().collect()
    }

    fn parameters_mut(&mut self) -> Vec<(String, ParameterMut<'_, T>)> {
        let Self { attention, linear1, linear2, norm1, norm2, .. } = self;
        let all = [
            attention.parameters_below_mut("self_attn."),
            linear1.parameters_below_mut("linear1."),
            linear2.parameters_below_mut("linear2."),
            norm1.parameters_below_mut("norm1."),
            norm2.parameters_below_mut("norm2."),
        ];
        all.into_iter().flatten().collect()
    }
}
