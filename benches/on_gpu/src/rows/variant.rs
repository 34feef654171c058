//! Rows of the benches that time a variant of an operation and a baseline in turn.

use super::{Product, field};
use serde::Deserialize;
use serde_json::Value;

/// A variant against its baseline, or the error of a case.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Value")]
pub(crate) enum VariantRow {
    /// Both were timed.
    Timed(Paired),
    /// The case failed at this size.
    Failed {
        /// What was to be measured.
        case: String,
        /// At which size.
        size: u64,
        /// The error.
        error: String,
    },
}

/// A variant and its baseline, timed in turn in one run.
#[derive(Debug, Deserialize)]
pub(crate) struct Paired {
    pub(crate) case: String,
    pub(crate) variant: String,
    pub(crate) baseline: String,
    #[serde(flatten)]
    pub(crate) product: Product,
    /// Whether the device is a CPU, which is measured at smaller sizes.
    pub(crate) software: bool,
    pub(crate) seconds: f64,
    pub(crate) baseline_seconds: f64,
    /// Median over the rounds of the variant's time over the baseline's.
    pub(crate) ratio: f64,
    /// Billions of operations per second.
    pub(crate) gops: f64,
    /// The slowest step of the variant's plan.
    pub(crate) plan: Option<String>,
}

impl TryFrom<Value> for VariantRow {
    type Error = serde_json::Error;

    fn try_from(value: Value) -> serde_json::Result<Self> {
        if value.get("error").is_some() {
            let (case, size) = (field(&value, "case")?, field(&value, "size")?);
            return Ok(Self::Failed { case, size, error: field(&value, "error")? });
        }
        serde_json::from_value(value).map(Self::Timed)
    }
}
