//! The forward pass of a block.

use super::transformer_block::{OP, TransformerBlock};
use crate::Result;
use crate::attention::layer::cache::KeyValueCache;
use crate::attention::layer::kinds::{FeedForward, NormPosition};
use crate::attention::layer::rows::{check_sequences, mapped};
use crate::attention::options::AttentionOptions;
use crate::error::call;
use crate::layout::Real;
use crate::ops::map;
use crate::tensor::Tensor;

impl<T: Real> TransformerBlock<T> {
    /// The block's result for sequences.
    ///
    /// # Shapes
    /// `x` (batch, length, embed) -> (batch, length, embed)
    /// # Errors
    /// As [`MultiHeadAttention::forward`](crate::attention::MultiHeadAttention::forward).
    /// # Precision
    /// Each launch computes in f32 and rounds its result to `T`:
    /// [`reference::TransformerBlockReference`](crate::reference::TransformerBlockReference).
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::Fill;
    /// use tilewise::attention::{AttentionOptions, TransformerBlock};
    ///
    /// let block = TransformerBlock::<f32>::builder(32, 4, 128).random(&gpu)?;
    /// let x = gpu.random([2, 7, 32], Fill::Uniform, 1)?;
    /// let lengths = gpu.tensor(&[7, 4], [2])?; // the second sequence is padded
    /// let y = block.forward(&x, &AttentionOptions::new().key_lengths(&lengths))?;
    /// assert_eq!(y.shape(), [2, 7, 32]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn forward(&self, x: &Tensor<T>, options: &AttentionOptions<'_, T>) -> Result<Tensor<T>> {
        call("TransformerBlock::forward", || {
            self.pass(x, |normed, residual| self.attention.attended(normed, Some(residual), options))
        })
    }

    /// The block's result for new positions of sequences, whose keys and values are appended to a cache: as
    /// [`MultiHeadAttention::forward_cached`](crate::attention::MultiHeadAttention::forward_cached).
    ///
    /// # Shapes
    /// As [`forward`](Self::forward).
    /// # Errors
    /// As [`MultiHeadAttention::forward_cached`](crate::attention::MultiHeadAttention::forward_cached).
    /// # Precision
    /// As [`forward`](Self::forward).
    /// # Launches
    /// As [`MultiHeadAttention::forward_cached`](crate::attention::MultiHeadAttention::forward_cached).
    pub fn forward_cached(
        &self,
        x: &Tensor<T>,
        cache: &mut KeyValueCache<T>,
        options: &AttentionOptions<'_, T>,
    ) -> Result<Tensor<T>> {
        call("TransformerBlock::forward_cached", || {
            self.attention.check_cached(x, cache, options)?;
            cache.step(x.shape()[1], |cache| {
                let attend = |normed: &_, residual: &_| {
                    self.attention.attended_cached(normed, Some(residual), cache, options)
                };
                self.pass(x, attend)
            })
        })
    }

    /// The block with this attention of an operand, plus a residual.
    fn pass(
        &self,
        x: &Tensor<T>,
        attend: impl FnOnce(&Tensor<T>, &Tensor<T>) -> Result<Tensor<T>>,
    ) -> Result<Tensor<T>> {
        check_sequences(OP, "x", x, self.embed())?;
        match self.position {
            NormPosition::Pre => {
                let h = attend(&self.norm1.of(x)?, x)?;
                self.fed(&self.norm2.of(&h)?, &h)
            }
            NormPosition::Post => {
                let h = self.norm1.of(&attend(x, x)?)?;
                self.norm2.of(&self.fed(&h, &h)?)
            }
        }
    }

    /// The feed-forward part of `x`, plus a residual.
    fn fed(&self, x: &Tensor<T>, residual: &Tensor<T>) -> Result<Tensor<T>> {
        let hidden = mapped(&self.linear1, x, None)?;
        let hidden = match self.feed_forward {
            FeedForward::Plain(_) => hidden,
            FeedForward::SwiGlu => {
                let (gate, up) = (hidden.slice(2, ..self.inner())?, hidden.slice(2, self.inner()..)?);
                map(&[&gate, &up], |[gate, up]| gate.sigmoid() * gate * up)?
            }
        };
        mapped(&self.linear2, &hidden, Some(residual))
    }
}
