//! Cumulative sums.

mod call;
mod kernel;
mod plan;
pub(crate) mod problem;

pub use call::cumsum;
