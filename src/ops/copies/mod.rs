//! Copies that make an operand contiguous first: results in existing tensors, and repeated tensors.

mod assign;
mod repeat;

pub use repeat::repeat;
