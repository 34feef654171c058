//! A whole layer of a Clifford network: a linear layer and a weighted product, built at random or from files.

mod builder;
mod clifford_layer;
#[cfg(feature = "safetensors")]
mod file;

pub use builder::CliffordLayerBuilder;
pub use clifford_layer::{CliffordLayer, Residual};
