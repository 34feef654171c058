//! Rows of `torch_gemm.py`: products by cuBLAS through PyTorch.

use super::{Outcome, Product};
use serde::Deserialize;

/// A product of the peer, and what came of it.
#[derive(Clone, Debug, Deserialize)]
pub struct PeerRow {
    /// The library and its version.
    pub peer: String,
    pub device: String,
    #[serde(flatten)]
    pub product: Product,
    /// `nn`, `nt`: which operands are transposed.
    pub layout: String,
    #[serde(flatten)]
    pub outcome: Outcome<PeerTimes>,
}

/// The times of a product of the peer, on the device's clock.
#[derive(Clone, Debug, Deserialize)]
pub struct PeerTimes {
    pub tflops: f64,
    pub gpu_seconds_median: f64,
    pub gpu_seconds_min: f64,
    pub gpu_seconds_max: f64,
}
