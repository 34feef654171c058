//! Softmax, its logarithm, and their gradients.

mod backward;
mod builder;
mod call;
mod columns;
pub(crate) mod function;
mod kernel;
mod plan;
pub(crate) mod problem;

pub use backward::{log_softmax_backward, softmax_backward};
pub use builder::Softmax;
pub use call::{log_softmax, softmax};
