//! Losses of the elements of two tensors: squared and absolute errors, Huber's loss, and the cross-entropy of logits.

mod call;
pub(crate) mod function;
mod kernel;
mod plan;
pub(crate) mod problem;

pub use call::{
    bce_with_logits, bce_with_logits_and_gradient, huber, huber_and_gradient, l1, l1_and_gradient, mse,
    mse_and_gradient,
};
