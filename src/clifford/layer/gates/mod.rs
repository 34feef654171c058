//! The gates of both operands, multiplied: one plane in front of all blades' products.
//!
//! The plan of a fully connected product has this step in front of its matrix product.

mod kernel;
mod plan;
mod problem;

pub use problem::{GatesDims, GatesProblem};
