//! The fully connected geometric product: every path of a layer's product has a matrix of weights.
//!
//! There is no `kernel.rs`: [`crate::gemm`] computes the matrix products that `matrices.rs` describes. The plan runs
//! the gates before them and the norm after them.

mod call;
mod matrices;
mod plan;
mod problem;

pub use call::Connected;
pub use problem::{ConnectedBackward, ConnectedForward, ConnectedProblem, OperandRounding};
