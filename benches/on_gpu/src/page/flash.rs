//! The kernels of flash-clifford.

use crate::printed::{brief, short};
use bench::rows::Outcome;
use bench::table::Table;
use serde::Deserialize;

/// A kernel of an algebra at a size, or its error.
#[derive(Deserialize)]
pub(super) struct FlashRow {
    variant: String,
    features: u64,
    #[serde(flatten)]
    outcome: Outcome<Timed>,
}

#[derive(Deserialize)]
struct Timed {
    batch: u64,
    direction: String,
    seconds: f64,
    gbps: f64,
}

pub(super) fn text(rows: &[FlashRow]) -> String {
    let mut failed = String::new();
    let mut table = Table::new(["algebra", "batch x features", "direction", "us", "GB/s"]);
    for FlashRow { variant, features, outcome } in rows {
        match outcome {
            Outcome::Timed(Timed { batch, direction, seconds, gbps }) => table.row([
                variant.clone(),
                format!("{batch} x {features}"),
                direction.clone(),
                short(1e6 * seconds),
                short(*gbps),
            ]),
            Outcome::Failed { error: why } | Outcome::LeftOut { left_out: why } => {
                failed += &format!("Failed: {variant}, {features} features: {}\n", brief(why));
            }
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
    use bench::lines::parse;

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
