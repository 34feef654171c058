//! Loss functions, and their gradients.

pub(crate) mod cross_entropy;
pub(crate) mod elements;
pub(crate) mod reduction;
pub(crate) mod total;
mod upstream;

pub use cross_entropy::{CrossEntropy, CrossEntropyLoss, Targets, cross_entropy, cross_entropy_and_gradient};
pub use elements::{
    bce_with_logits, bce_with_logits_and_gradient, huber, huber_and_gradient, l1, l1_and_gradient, mse,
    mse_and_gradient,
};
pub use reduction::Reduction;
