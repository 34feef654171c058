//! Additions to indexed elements: the gradients of `gather`, `index_select` and `embedding`.

mod call;
mod kernel;
mod plan;
pub(crate) mod problem;

pub use call::{embedding_backward, index_add, scatter_add};
