//! Building blocks, with random parameters or from given ones.

use super::norm::Norm;
use super::transformer_block::{OP, TransformerBlock};
use crate::attention::layer::builder::MultiHeadAttentionBuilder;
use crate::attention::layer::kinds::{Biases, BlockNorm, FeedForward, NormPosition};
use crate::attention::layer::multi_head::MultiHeadAttention;
use crate::attention::layer::parameters::{ones, part_seed, uniform};
use crate::error::call;
use crate::gemm::Linear;
use crate::gpu::Gpu;
use crate::layout::Real;
use crate::ops::{Activation, Rotary};
use crate::tensor::Tensor;
use crate::{Error, Result};

/// Builds a [`TransformerBlock`].
#[derive(Clone, Debug)]
#[must_use = "a block is built by `random` or `load`"]
pub struct TransformerBlockBuilder<T: Real> {
    pub(super) attention: MultiHeadAttentionBuilder<T>,
    pub(super) inner: usize,
    pub(super) position: NormPosition,
    pub(super) norm: BlockNorm,
    pub(super) feed_forward: FeedForward,
    eps: Option<f32>,
}

/// The parameters of a block next to its attention.
pub(super) struct Parts<T: Real> {
    /// Weight and bias of both linear layers.
    pub(super) linear: [(Tensor<T>, Option<Tensor<T>>); 2],
    /// Those of both norms.
    pub(super) norm: [(Tensor<T>, Option<Tensor<T>>); 2],
}

impl<T: Real> TransformerBlock<T> {
    /// A builder of blocks with `embed` features, this number of heads, and `inner` features in the feed-forward part. By default the
    /// blocks are those of `PyTorch`, with `activation="gelu"`.
    pub fn builder(embed: usize, heads: usize, inner: usize) -> TransformerBlockBuilder<T> {
        TransformerBlockBuilder {
            attention: MultiHeadAttention::builder(embed, heads),
            inner,
            position: NormPosition::default(),
            norm: BlockNorm::default(),
            feed_forward: FeedForward::default(),
            eps: None,
        }
    }
}

impl<T: Real> TransformerBlockBuilder<T> {
    /// Sets the number of heads of keys and values, as [`MultiHeadAttentionBuilder::kv_heads`].
    pub fn kv_heads(self, kv_heads: usize) -> Self {
        Self { attention: self.attention.kv_heads(kv_heads), ..self }
    }

    /// Sets whether linear maps and layer norms have biases. By default they have.
    pub fn biases(self, biases: Biases) -> Self {
        Self { attention: self.attention.biases(biases), ..self }
    }

    /// Rotates queries and keys by their positions, as [`MultiHeadAttentionBuilder::rotary`].
    pub fn rotary(self, rotary: &Rotary) -> Self {
        Self { attention: self.attention.rotary(rotary), ..self }
    }

    /// Sets the seed of random parameters. The default is 0.
    pub fn seed(self, seed: u64) -> Self {
        Self { attention: self.attention.seed(seed), ..self }
    }

    /// Sets where the norms are. The default is after each sum.
    pub fn norm_position(self, position: NormPosition) -> Self {
        Self { position, ..self }
    }

    /// Sets the norms. The default is layer norms.
    pub fn norm(self, norm: BlockNorm) -> Self {
        Self { norm, ..self }
    }

    /// Sets what the norms add to a variance or mean square: a finite number of at least 0. The default is $10^{-5}$ for layer norms and
    /// $10^{-6}$ for RMS norms.
    pub fn eps(self, eps: f32) -> Self {
        Self { eps: Some(eps), ..self }
    }

    /// Sets the feed-forward part. The default is GELU.
    pub fn feed_forward(self, feed_forward: FeedForward) -> Self {
        Self { feed_forward, ..self }
    }

    /// A block with random parameters, to train from scratch, distributed as in `PyTorch`: the attention as
    /// [`MultiHeadAttentionBuilder::random`], the weight and bias of a linear layer with $n$ inputs uniform in $\pm 1 / \sqrt{n}$, and the
    /// weights of norms 1, their biases 0. The same seed gives the same parameters on every device.
    ///
    /// # Errors
    /// As [`MultiHeadAttentionBuilder::random`]; [`Error::Input`] if there are no inner features, or eps is negative or not finite.
    pub fn random(&self, gpu: &Gpu) -> Result<TransformerBlock<T>> {
        call("TransformerBlock::random", || {
            self.check()?;
            let attention = self.attention.random(gpu)?;
            let [first, second] = self.weights();
            let linear = |[outputs, inputs]: [usize; 2], part: u64| {
                let bound = 1.0 / (inputs as f64).sqrt();
                let seed = |which: u64| part_seed(self.attention.seed, part + which);
                let weight = uniform(gpu, OP, &[outputs, inputs], bound, seed(0))?;
                let bias = self.with_bias(|| uniform(gpu, OP, &[outputs], bound, seed(1)))?;
                Ok((weight, bias))
            };
            let embed = attention.embed();
            let norm = || {
                let beta = self.norm_has_bias().then(|| gpu.zeros([embed])).transpose()?;
                Ok((ones(gpu, OP, embed)?, beta))
            };
            let parts = Parts { linear: [linear(first, 3)?, linear(second, 5)?], norm: [norm()?, norm()?] };
            self.block(attention, parts)
        })
    }

    /// The shapes (out, in) of the weights of the feed-forward part.
    pub(super) fn weights(&self) -> [[usize; 2]; 2] {
        let embed = self.attention.sizes.embed;
        [[self.feed_forward.maps() * self.inner, embed], [embed, self.inner]]
    }

    /// Whether the norms have biases.
    pub(super) fn norm_has_bias(&self) -> bool {
        self.norm == BlockNorm::Layer && self.attention.biases == Biases::All
    }

    /// A bias of a linear layer, if there are biases.
    pub(super) fn with_bias(&self, bias: impl FnOnce() -> Result<Tensor<T>>) -> Result<Option<Tensor<T>>> {
        (self.attention.biases == Biases::All).then(bias).transpose()
    }

    /// Checks the sizes and numbers.
    pub(super) fn check(&self) -> Result<()> {
        self.attention.sizes.check(OP)?;
        if self.inner == 0 {
            return Err(Error::input(format!("{OP}: the inner features"), "there must be at least one"));
        }
        match self.eps {
            Some(eps) if !(eps.is_finite() && eps >= 0.0) => {
                let why = format!("it must be finite and at least 0, not {eps}");
                Err(Error::input(format!("{OP}: eps"), why))
            }
            _ => Ok(()),
        }
    }

    /// The block of parts whose shapes were checked.
    pub(super) fn block(
        &self,
        attention: MultiHeadAttention<T>,
        parts: Parts<T>,
    ) -> Result<TransformerBlock<T>> {
        let [(weight1, bias1), (weight2, bias2)] = parts.linear;
        let activation = match self.feed_forward {
            FeedForward::Gelu => Activation::Gelu,
            FeedForward::SwiGlu => Activation::None,
        };
        let eps = self.eps.unwrap_or(self.norm.eps());
        let [norm1, norm2] = parts.norm.map(|(gamma, beta)| Norm { kind: self.norm, gamma, beta, eps });
        Ok(TransformerBlock {
            position: self.position,
            feed_forward: self.feed_forward,
            attention,
            linear1: Linear::new(weight1, bias1, activation)?,
            linear2: Linear::new(weight2, bias2, Activation::None)?,
            norm1,
            norm2,
        })
    }
}
