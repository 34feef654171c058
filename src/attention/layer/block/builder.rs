//! Building blocks, with random parameters or from given ones.

use super::norm::Norm;
use super::transformer_block::{OP, TransformerBlock};
use crate::attention::layer::builder::MultiHeadAttentionBuilder;
use crate::attention::layer::builder::part_seed;
use crate::attention::layer::heads::check_features;
use crate::attention::layer::kinds::{Biases, BlockNorm, FeedForward, NormPosition};
use crate::attention::layer::multi_head::MultiHeadAttention;
use crate::attention::layer::tensors::{Expected, LayerTensors};
use crate::error::call;
use crate::gemm::Linear;
use crate::gpu::Gpu;
use crate::layout::Real;
use crate::ops::{Activation, Rotary};
use crate::tensor::Tensor;
use crate::{Error, Result};

/// Builds a [`TransformerBlock`].
#[derive(Clone, Debug)]
#[must_use = "a block is built by `random`, `from_tensors` or `load`"]
pub struct TransformerBlockBuilder<T: Real> {
    attention: MultiHeadAttentionBuilder<T>,
    inner: usize,
    position: NormPosition,
    norm: BlockNorm,
    feed_forward: FeedForward,
    eps: Option<f32>,
}

impl<T: Real> TransformerBlock<T> {
    /// A builder of blocks with `embed` features, this number of heads, and `inner` features in the feed-forward part. By default
    /// the blocks are those of `PyTorch`, with `activation="gelu"`. `PyTorch`'s own default is `"relu"`: set
    /// [`feed_forward`](TransformerBlockBuilder::feed_forward) for parameters that were trained with it, because the parameters do
    /// not contain the activation.
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

    /// Sets whether linear maps and layer norms have biases. The default is biases.
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

    /// Sets the position of the norms. The default is after each sum.
    pub fn norm_position(self, position: NormPosition) -> Self {
        Self { position, ..self }
    }

    /// Sets the norms. The default is layer norms.
    pub fn norm(self, norm: BlockNorm) -> Self {
        Self { norm, ..self }
    }

    /// Sets the $\varepsilon$ of the norms, which is added to a variance or mean square: finite and at least 0. The default is
    /// $10^{-5}$ for layer norms and $10^{-6}$ for RMS norms.
    pub fn eps(self, eps: f32) -> Self {
        Self { eps: Some(eps), ..self }
    }

    /// Sets the feed-forward part with its activation. The default is `Plain` with the exact GELU.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::Activation;
    /// use tilewise::attention::{FeedForward, TransformerBlock};
    ///
    /// // PyTorch's TransformerEncoderLayer(32, 4, 128): its activation is relu.
    /// let relu = FeedForward::Plain(Activation::Relu);
    /// let block = TransformerBlock::<f32>::builder(32, 4, 128).feed_forward(relu).random(&gpu)?;
    /// assert_eq!(block.feed_forward(), relu);
    /// # Ok(())
    /// # }
    /// ```
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
            let mut tensors = Vec::new();
            for (part, [outputs, inputs]) in (3..).step_by(2).zip(self.weights()) {
                let layer = if part == 3 { "linear1" } else { "linear2" };
                for ((name, shape), of) in
                    linear_tensors(layer, [outputs, inputs], self.attention.biases).zip(0..)
                {
                    let (bound, seed) =
                        (1.0 / (inputs as f64).sqrt(), part_seed(self.attention.seed, part + of));
                    tensors.push((name, gpu.uniform(OP, &shape, bound, seed)?));
                }
            }
            for (name, shape) in self.norms() {
                let first = if name.ends_with("weight") { 1.0 } else { 0.0 };
                let made =
                    gpu.filled(OP, &shape, |_, elements: &mut [T]| elements.fill(T::from_f64(first)))?;
                tensors.push((name, made));
            }
            self.joined(attention, &mut LayerTensors::of(tensors))
        })
    }

    /// A block with these parameters, by the names of its [`parameters`](crate::Parameters::parameters). It shares them and copies nothing.
    ///
    /// # Shapes
    /// As [`MultiHeadAttentionBuilder::from_tensors`], after `self_attn.`; `linear1.weight` (inner, embed), with `SwiGLU` (2 inner, embed),
    /// `linear2.weight` (embed, inner), `norm1.weight` and `norm2.weight` (embed). A bias has an element for each row of its weight.
    /// # Errors
    /// As [`MultiHeadAttentionBuilder::from_tensors`] and [`random`](Self::random).
    pub fn from_tensors<S: AsRef<str>>(
        &self,
        tensors: impl IntoIterator<Item = (S, Tensor<T>)>,
    ) -> Result<TransformerBlock<T>> {
        call("TransformerBlock::from_tensors", || {
            self.assembled(LayerTensors::given(OP, &self.expected()?, tensors)?)
        })
    }

    /// The tensors of a block.
    pub(super) fn expected(&self) -> Result<Vec<Expected>> {
        self.check()?;
        let mut all = self.attention.expected("self_attn.")?;
        for (layer, weight) in ["linear1", "linear2"].into_iter().zip(self.weights()) {
            all.extend(linear_tensors(layer, weight, self.attention.biases));
        }
        all.extend(self.norms());
        Ok(all)
    }

    /// The block of tensors that were checked.
    pub(super) fn assembled(&self, mut tensors: LayerTensors<T>) -> Result<TransformerBlock<T>> {
        let attention = self.attention.assembled(&mut tensors, "self_attn.")?;
        self.joined(attention, &mut tensors)
    }

    /// The block of an attention and the other tensors.
    fn joined(
        &self,
        attention: MultiHeadAttention<T>,
        tensors: &mut LayerTensors<T>,
    ) -> Result<TransformerBlock<T>> {
        let activation = match self.feed_forward {
            FeedForward::Plain(activation) => activation,
            FeedForward::SwiGlu => Activation::None,
        };
        let mut both = |of: &str| {
            Ok::<_, Error>((tensors.weight(&format!("{of}.weight"))?, tensors.bias(&format!("{of}.bias"))))
        };
        let [linear1, linear2] = [both("linear1")?, both("linear2")?];
        let eps = self.eps.unwrap_or(self.norm.eps());
        let norm = |(gamma, beta)| Norm { kind: self.norm, gamma, beta, eps };
        Ok(TransformerBlock {
            position: self.position,
            feed_forward: self.feed_forward,
            attention,
            linear1: Linear::new(linear1.0, linear1.1, activation)?,
            linear2: Linear::new(linear2.0, linear2.1, Activation::None)?,
            norm1: norm(both("norm1")?),
            norm2: norm(both("norm2")?),
        })
    }

    /// The shapes (out, in) of the weights of the feed-forward part.
    fn weights(&self) -> [[usize; 2]; 2] {
        let embed = self.attention.sizes.embed;
        [[self.feed_forward.maps() * self.inner, embed], [embed, self.inner]]
    }

    /// The tensors of both norms.
    fn norms(&self) -> Vec<Expected> {
        let parts: &[&str] = match (self.norm, self.attention.biases) {
            (BlockNorm::Layer, Biases::All) => &["weight", "bias"],
            _ => &["weight"],
        };
        let names = ["norm1", "norm2"]
            .into_iter()
            .flat_map(|norm| parts.iter().map(move |part| format!("{norm}.{part}")));
        names.map(|name| (name, vec![self.attention.sizes.embed])).collect()
    }

    /// Checks the sizes and numbers.
    fn check(&self) -> Result<()> {
        if self.inner == 0 {
            return Err(Error::input(format!("{OP}: the inner features"), "there must be at least one"));
        }
        check_features(OP, "the number of inner features", self.inner)?;
        match self.eps {
            Some(eps) if !(eps.is_finite() && eps >= 0.0) => {
                let why = format!("it must be finite and at least 0, not {eps}");
                Err(Error::input(format!("{OP}: eps"), why))
            }
            _ => Ok(()),
        }
    }
}

/// The tensors of a linear layer with a weight of this shape.
fn linear_tensors(layer: &str, weight: [usize; 2], biases: Biases) -> impl Iterator<Item = Expected> + use<> {
    let bias = (biases == Biases::All).then(|| (format!("{layer}.bias"), vec![weight[0]]));
    [(format!("{layer}.weight"), weight.to_vec())].into_iter().chain(bias)
}
