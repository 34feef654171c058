//! Functions of multivectors that have parameters for each feature: normalisation, layer norm, `silu`, and their
//! gradients.
//!
//! The folders `norm` and `activation` are their API. `terms.rs` writes their shader code from the algebra's table of
//! squares.

pub(super) mod call;
mod kernel;
mod plan;
mod problem;
mod terms;

pub use problem::{FeatureFunction, FeaturesDims, FeaturesProblem, Pass};
