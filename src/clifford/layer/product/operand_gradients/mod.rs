//! The gradients of a fully connected product with respect to its operands.
//!
//! A matrix product first computes the gradient T of every path sum $P_{c,p}$: one matrix for each pair of a blade and
//! a path. The kernel multiplies T by the other operand's blades, term by term, sums the terms of each blade, and
//! applies the derivative of the gates.

mod kernel;
mod plan;
mod problem;
mod terms;

pub use problem::{OperandGradientsDims, OperandGradientsProblem};
