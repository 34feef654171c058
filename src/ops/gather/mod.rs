//! Elements by index: positions along an axis, single elements, and rows of a table.

mod call;
mod indices;
mod kernel;
mod plan;
pub(crate) mod problem;

pub use call::{embedding, gather, index_select};
pub use indices::Indices;
