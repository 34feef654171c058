//! Products that are summed over segments of k. A table says which planes of the operands each segment multiplies. Planes of A
//! can be generated while they are staged, as sums of products of two operands' planes.
//!
//! This folder has no kernel: such a product runs the kernels of matrix products, and `kernels/segments.rs` fills the slots
//! that differ.

mod plan;
mod problem;
mod table;

pub use problem::SegmentedProblem;
pub(crate) use problem::SegmentedProduct;
pub(crate) use table::{Segment, segment_table};
