//! Attention: softmax of scaled products of queries and keys, times values, without the matrix of scores in memory;
//! and layers of transformers.

pub(crate) mod backward;
mod choice;
mod coop;
mod coop_nv2;
mod element_rows;
mod form;
mod kernel;
pub(crate) mod layer;
mod operands;
mod options;
mod plan;
pub(crate) mod problem;
pub(crate) mod range;
mod run;
mod trial;
mod windows;

pub use backward::{AttentionGradients, attention_backward, attention_bias_backward};
pub use layer::{
    Biases, BlockNorm, FeedForward, KeyValueCache, MultiHeadAttention, MultiHeadAttentionBuilder,
    NormPosition, SavedAttention, TransformerBlock, TransformerBlockBuilder,
};
pub use options::{AttentionOptions, alibi_slopes};
pub use range::{AttentionKernel, CausalFrom};
pub use run::{attention, attention_with_lse};
