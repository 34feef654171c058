//! Operations on single tensors.

mod activation;
mod copy;

pub use activation::Activation;
pub(crate) use copy::copy;
pub use copy::{CopyDims, CopyProblem, plan_copy};
