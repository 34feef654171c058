//! What a fully connected product hands back to its operands, of what came back through its weights.
//!
//! The matrix product in front of this leaves a matrix for each pair of a blade and a path. The kernel multiplies it by the
//! other operand's blades, term by term, adds up each blade, and takes the sums back through the gates.

mod kernel;
mod plan;
mod problem;

pub use problem::{ConnectedBackDims, ConnectedBackProblem};
