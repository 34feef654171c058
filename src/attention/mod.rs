//! Attention: softmax of scaled products of queries and keys, times values, without the matrix of scores in memory.

pub(crate) mod backward;
mod coop;
mod kernel;
mod options;
mod plan;
pub(crate) mod problem;
mod run;

pub use backward::{AttentionGradients, attention_backward, attention_bias_backward};
pub use options::{AttentionKernel, AttentionOptions, CausalFrom, alibi_slopes};
pub use run::{attention, attention_with_lse};
