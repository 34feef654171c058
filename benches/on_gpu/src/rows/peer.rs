//! Rows of section `peers`: products by cuBLAS through PyTorch.

use super::{Product, field};
use serde::Deserialize;
use serde_json::Value;

/// A product of the peer, and what came of it.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Value")]
pub(crate) struct PeerRow {
    pub(crate) task: Task,
    pub(crate) outcome: Outcome,
}

/// A product of the peer.
#[derive(Debug, Deserialize)]
pub(crate) struct Task {
    /// The library and its version.
    pub(crate) peer: String,
    #[serde(flatten)]
    pub(crate) product: Product,
    pub(crate) layout: String,
}

/// What came of a product of the peer.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It was timed.
    Timed(Timed),
    /// Why it was not.
    LeftOut(String),
}

/// The times of a product of the peer.
#[derive(Debug, Deserialize)]
pub(crate) struct Timed {
    pub(crate) tflops: f64,
    pub(crate) gpu_seconds_min: f64,
    pub(crate) gpu_seconds_max: f64,
}

impl TryFrom<Value> for PeerRow {
    type Error = serde_json::Error;

    fn try_from(value: Value) -> serde_json::Result<Self> {
        let outcome = if value.get("left_out").is_some() {
            Outcome::LeftOut(field(&value, "left_out")?)
        } else {
            Outcome::Timed(serde_json::from_value(value.clone())?)
        };
        Ok(Self { task: serde_json::from_value(value)?, outcome })
    }
}

impl PeerRow {
    /// Its TFLOP/s, if it was timed.
    pub(crate) fn tflops(&self) -> Option<f64> {
        match &self.outcome {
            Outcome::Timed(timed) => Some(timed.tflops),
            Outcome::LeftOut(_) => None,
        }
    }
}
