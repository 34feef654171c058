//! One-hot rows for ids.

mod call;
mod plan;
pub(crate) mod problem;

pub use call::one_hot;
