//! Tensors of random values.

mod call;
mod plan;
pub(crate) mod problem;
