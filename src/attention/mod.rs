//! Attention: softmax of scaled products of queries and keys, times values, without the matrix of scores in memory;
//! and layers of transformers.

pub(crate) mod backward;
mod call;
mod choice;
mod coop;
mod coop_nv2;
mod element_rows;
mod form;
mod kernel;
pub(crate) mod layer;
mod options;
mod plan;
pub(crate) mod problem;
pub(crate) mod range;
mod trial;

pub use backward::{AttentionGradients, attention_backward, attention_bias_backward};
pub use call::{attention, attention_with_lse};
pub use layer::{
    Biases, BlockNorm, FeedForward, KeyValueCache, MultiHeadAttention, MultiHeadAttentionBuilder,
    NormPosition, SavedAttention, TransformerBlock, TransformerBlockBuilder,
};
pub use options::{AttentionOptions, alibi_slopes};
pub use range::{AttentionKernel, CausalFrom};
