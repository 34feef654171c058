//! Operations on single tensors.

mod activation;
mod cast;

pub use activation::Activation;
pub(crate) use cast::cast;
pub use cast::{CastDims, CastProblem, Overflow, plan_cast};
