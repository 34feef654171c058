//! The fully connected geometric product: every path of a layer's product has a matrix of weights.
//!
//! There is no `kernel.rs`: [`crate::gemm`] computes the matrix products that `matrices.rs` describes. The plan runs
//! the gates before them and the norm after them.

mod builder;
mod matrices;
mod operands;
mod plan;
mod problem;
mod windows;

pub use builder::Connected;
pub use problem::{ConnectedBackward, ConnectedForward, ConnectedProblem, OperandRounding};
