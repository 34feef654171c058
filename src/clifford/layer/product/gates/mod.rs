//! The product of both operands' gates, at every row and feature.
//!
//! A fully connected product computes it in a step before its matrix product, because all blades share it.

mod kernel;
mod plan;
mod problem;

pub use problem::{GatesDims, GatesProblem};
