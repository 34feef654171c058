//! The backward pass of attention. It recomputes the weights from the largest scores and the logarithms of the sums.

mod coop;
mod coop_nv2;
mod kernel;
mod operands;
mod plan;
pub(crate) mod problem;
mod run;
mod windows;

pub use run::{AttentionGradients, attention_backward, attention_bias_backward};
