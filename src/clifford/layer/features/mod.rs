//! Functions of multivectors that have parameters for each feature: normalisation, layer norm, `silu`, and their
//! gradients.
//!
//! `layers.rs` is their API. `terms.rs` writes their shader code from the algebra's table of squares.

mod call;
mod kernel;
mod layers;
mod plan;
mod problem;
mod terms;

pub use layers::{MvLayerNorm, MvNormalization, MvSilu};
pub use problem::{FeatureFunction, FeaturesDims, FeaturesProblem, Pass};
