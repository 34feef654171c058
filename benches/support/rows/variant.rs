//! Rows of the benches that time a variant of an operation and a baseline in turn.

use super::Product;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A variant against its baseline, or the error of a case.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Value")]
pub enum VariantRow {
    Timed(Box<PairedRow>),
    Failed(FailedRow),
}

/// A variant and its baseline, timed in turn in one run.
#[derive(Debug, Serialize, Deserialize)]
pub struct PairedRow {
    pub device: String,
    pub driver: String,
    /// Whether the device is a CPU, which is measured at smaller sizes.
    pub software: bool,
    pub case: String,
    pub variant: String,
    pub baseline: String,
    #[serde(flatten)]
    pub product: Product,
    pub rounds: usize,
    /// Medians over the rounds.
    pub seconds: f64,
    pub baseline_seconds: f64,
    /// Median over the rounds of the variant's time over the baseline's.
    pub ratio: f64,
    /// Billions of operations per second.
    pub gops: f64,
    /// The slowest step of each plan.
    pub plan: Option<String>,
    pub baseline_plan: Option<String>,
}

/// A case that failed at this size.
#[derive(Debug, Serialize, Deserialize)]
pub struct FailedRow {
    pub case: String,
    pub size: usize,
    pub error: String,
}

impl TryFrom<Value> for VariantRow {
    type Error = serde_json::Error;

    fn try_from(value: Value) -> serde_json::Result<Self> {
        if value.get("error").is_some() {
            return serde_json::from_value(value).map(Self::Failed);
        }
        serde_json::from_value(value).map(Self::Timed)
    }
}
