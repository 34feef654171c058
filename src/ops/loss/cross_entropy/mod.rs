//! The cross-entropy of logits with targets.

mod call;
mod few_bindings;
mod kernel;
mod operands;
mod plan;
pub(crate) mod problem;
mod step;
mod targets;
mod windows;

pub use call::{CrossEntropy, CrossEntropyLoss, cross_entropy, cross_entropy_and_gradient};
pub use targets::Targets;
