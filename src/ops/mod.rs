//! Operations on single tensors.

mod copy;

pub(crate) use copy::copy;
pub use copy::{CopyDims, CopyProblem, plan_copy};
