//! The fully connected geometric product: every path of a layer's product has a matrix of weights.
//!
//! There is no `kernel.rs`: [`crate::gemm`] computes the matrix products, which `matrices.rs` describes. The plan puts the
//! gates in front of them and the norm behind. The gradients of both operands need one kernel more, which is in `back/`.

mod back;
mod matrices;
mod plan;
mod problem;
mod product;

pub use back::{ConnectedBackDims, ConnectedBackProblem};
pub use problem::{ConnectedBackward, ConnectedForward, ConnectedProblem, Multiplied};
pub use product::Connected;
