//! Padding with a constant.

mod call;
mod plan;
pub(crate) mod problem;

pub use call::pad;
