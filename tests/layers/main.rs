//! What stands beside the products of Clifford layers: linear layers, norms, activations, and the whole layer.

mod common;
mod equivariance;
mod features;
mod linear;
mod module;
mod oracles;
mod products;
#[path = "../support/mod.rs"]
mod support;
