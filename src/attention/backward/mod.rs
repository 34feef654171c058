//! The backward pass of attention. It recomputes the weights from the largest scores and the logarithms of the sums.

mod call;
mod coop;
mod coop_nv2;
mod kernel;
mod plan;
pub(crate) mod problem;

pub use call::{AttentionGradients, attention_backward, attention_bias_backward};
