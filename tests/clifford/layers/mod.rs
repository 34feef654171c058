//! Clifford layers: their products, what stands beside them, and the whole layer.

mod common;
mod connected;
mod equivariance;
mod example;
mod features;
mod few_features;
mod flash_clifford;
mod linear;
mod module;
mod oracles;
mod products;
mod steerable;
mod versors;
