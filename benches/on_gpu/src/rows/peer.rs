//! Rows of section `peers`: products by cuBLAS through PyTorch.

use super::{Product, Row, field};
use serde::Deserialize;
use serde_json::Value;

/// A product of the peer.
#[derive(Debug, Deserialize)]
pub(crate) struct PeerRow {
    /// The library and its version.
    pub(crate) peer: String,
    #[serde(flatten)]
    pub(crate) product: Product,
    pub(crate) layout: String,
    /// Its times, or why there are none.
    #[serde(skip)]
    pub(crate) outcome: Outcome,
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

impl Default for Outcome {
    fn default() -> Self {
        Self::LeftOut(String::new())
    }
}

impl Row for PeerRow {
    fn from_json(value: Value) -> serde_json::Result<Self> {
        let outcome = if value.get("left_out").is_some() {
            Outcome::LeftOut(field(&value, "left_out")?)
        } else {
            Outcome::Timed(Timed::deserialize(&value)?)
        };
        Ok(Self { outcome, ..serde_json::from_value(value)? })
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
