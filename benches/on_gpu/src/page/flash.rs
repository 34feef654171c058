//! The kernels of flash-clifford.

use crate::markdown::{Table, brief, short};
use serde::Deserialize;
use serde_json::Value;

/// A kernel of an algebra at a size, or its error.
#[derive(Deserialize)]
#[serde(try_from = "Value")]
pub(super) enum FlashRow {
    Timed(Timed),
    Failed(Failed),
}

#[derive(Deserialize)]
pub(super) struct Timed {
    variant: String,
    batch: u64,
    features: u64,
    direction: String,
    seconds: f64,
    gbps: f64,
}

#[derive(Deserialize)]
pub(super) struct Failed {
    variant: String,
    features: u64,
    error: String,
}

impl TryFrom<Value> for FlashRow {
    type Error = serde_json::Error;

    fn try_from(value: Value) -> serde_json::Result<Self> {
        if value.get("error").is_some() {
            return serde_json::from_value(value).map(Self::Failed);
        }
        serde_json::from_value(value).map(Self::Timed)
    }
}

pub(super) fn text(rows: &[FlashRow]) -> String {
    let mut failed = String::new();
    let mut table = Table::new(["algebra", "batch x features", "direction", "us", "GB/s"]);
    for row in rows {
        match row {
            FlashRow::Failed(Failed { variant, features, error }) => {
                failed += &format!("Failed: {variant}, {features} features: {}\n", brief(error));
            }
            FlashRow::Timed(row) => table.row([
                row.variant.clone(),
                format!("{} x {}", row.batch, row.features),
                row.direction.clone(),
                short(1e6 * row.seconds),
                short(row.gbps),
            ]),
        }
    }
    if table.is_empty() {
        return failed;
    }
    format!(
        "{failed}GB/s of three tensors forward, and of eight forward and backward, by the medians of the runs.\n\n{table}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::parse;

    #[test]
    fn kernels_that_fail_are_listed() {
        let json = r#"{"peer":"flash-clifford","variant":"Cl(3,0,0)","batch":4096,"features":64,"dtype":"f32","direction":"forward","seconds":0.00012,"gbps":209.7}
{"peer":"flash-clifford","variant":"Cl(2,0,0)","features":64,"error":"out of\nmemory"}"#;
        let rows = parse("flash.jsonl", json);
        assert!(rows.malformed.is_empty());
        let page = text(&rows.rows);
        assert!(page.starts_with("Failed: Cl(2,0,0), 64 features: out of memory\n"), "{page}");
        assert!(page.ends_with("| Cl(3,0,0) | 4096 x 64 | forward | 120 | 210 |\n"), "{page}");
    }
}
