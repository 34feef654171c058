//! Sparse operators: kernels draw the nonzeros of each line when they use them, from counters.

mod kernel;
mod plan;
mod problem;

pub use problem::{SparseDims, SparseMethod, SparseProblem};
