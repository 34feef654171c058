//! The weighted products of layers, steerable and fully connected, with their gradients.
//!
//! [`rows`](super::rows) computes steerable products. A fully connected product is a matrix product (`connected`) after
//! a launch for the gates (`gates`); the gradients of its operands take one more kernel (`operand_gradients`).

pub(crate) mod connected;
pub(crate) mod gates;
mod gradients;
pub(crate) mod operand_gradients;
mod pairs;
mod steerable;

pub use connected::Connected;
pub use gradients::ProductGradients;
