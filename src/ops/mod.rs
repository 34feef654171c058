//! Operations on single tensors.

mod copy;

pub use copy::{CopyDims, CopyProblem};
pub(crate) use copy::copy;
