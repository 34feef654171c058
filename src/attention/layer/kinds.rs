//! The kinds of the parts of a transformer's layers.

use crate::ops::Activation;

/// Whether a layer's linear maps and layer norms have biases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Biases {
    /// All of them have one.
    #[default]
    All,
    /// None has one, as in Llama.
    None,
}

/// The position of a block's norms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NormPosition {
    /// Before attention and feed-forward: $h = x + A(N_{1}(x))$, $y = h + F(N_{2}(h))$, as in GPT-2 and Llama (`norm_first` of `PyTorch`).
    Pre,
    /// After each sum: $h = N_{1}(x + A(x))$, $y = N_{2}(h + F(h))$, as in BERT. The default of `PyTorch`.
    #[default]
    Post,
}

/// The norms of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BlockNorm {
    /// Layer norms, with weights and, if the block has biases, biases.
    #[default]
    Layer,
    /// RMS norms, with weights only.
    Rms,
}

/// The feed-forward part of a block. The default is `Plain` with the exact [`Activation::Gelu`].
///
/// A file of parameters does not contain the activation with which they were trained. It also loads with another activation, but
/// then gives other results.
///
/// | model | feed-forward part |
/// |---|---|
/// | `TransformerEncoderLayer` of `PyTorch`, as it is by default; the first Transformer | `Plain(Activation::Relu)` |
/// | the same with `activation="gelu"`; BERT, ViT | `Plain(Activation::Gelu)` |
/// | GPT-2 (`gelu_new`), and others with `gelu_pytorch_tanh` | `Plain(Activation::GeluTanh)` |
/// | CLIP of `OpenAI` | `Plain(Activation::QuickGelu)` |
/// | Llama | `SwiGlu` |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FeedForward {
    /// $W_{2}\\,\sigma(W_{1} x + b_{1}) + b_{2}$ with any activation $\sigma$. $W_{1}$ is (inner, embed).
    Plain(Activation),
    /// $W_{2}\\,(\mathrm{silu}(G x) \circ U x)$, as in Llama, with biases if the block has them. The gate $G$ and $U$ (`gate_proj` and
    /// `up_proj`) are one weight: $W_{1}$ is (2 inner, embed), with the rows of $G$ first, so that one product computes both.
    SwiGlu,
}

impl BlockNorm {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Layer, Self::Rms];

    /// The default $\varepsilon$ that is added to the variance or the mean square: that of
    /// [`LayerNorm`](crate::ops::LayerNorm) and [`RmsNorm`](crate::ops::RmsNorm).
    pub(super) fn eps(self) -> f32 {
        match self {
            Self::Layer => 1e-5,
            Self::Rms => 1e-6,
        }
    }
}

impl Default for FeedForward {
    fn default() -> Self {
        Self::Plain(Activation::Gelu)
    }
}

impl FeedForward {
    /// The rows of the first weight for each inner feature.
    pub(super) fn maps(self) -> usize {
        match self {
            Self::Plain(_) => 1,
            Self::SwiGlu => 2,
        }
    }
}

impl NormPosition {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Pre, Self::Post];
}
