//! Products of the example `gemm`, each checked.

use crate::printed::{short, short_or_dash};
use bench::rows::Product;
use bench::table::Table;
use serde::Deserialize;

/// A product: its times, and its error over the bound.
#[derive(Deserialize)]
pub(super) struct GemmRow {
    #[serde(flatten)]
    product: Product,
    layout: String,
    kernel: String,
    gpu_seconds_median: f64,
    gpu_seconds_min: f64,
    gpu_seconds_max: f64,
    tflops: f64,
    bound_ratio: Option<f64>,
    check: String,
    ok: bool,
}

pub(super) fn text(rows: &[GemmRow]) -> String {
    let mut table = Table::new([
        "m x n x k",
        "types",
        "layout",
        "kernel",
        "ms (min to max)",
        "TFLOP/s",
        "error / bound",
        "check",
    ]);
    for row in rows {
        let [median, min, max] = [row.gpu_seconds_median, row.gpu_seconds_min, row.gpu_seconds_max]
            .map(|seconds| short(seconds * 1e3));
        table.row([
            row.product.size(),
            row.product.types(),
            row.layout.clone(),
            row.kernel.clone(),
            format!("{median} ({min} to {max})"),
            short(row.tflops),
            short_or_dash(row.bound_ratio),
            if row.ok { row.check.clone() } else { format!("{}: WRONG", row.check) },
        ]);
    }
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bench::lines::parse;

    #[test]
    fn a_wrong_product_is_marked() {
        let right = r#"{"kernel":"tiled","m":32,"n":16,"k":8,"dtype":"f16","out_dtype":"f32","layout":"tt","gpu_seconds_median":0.0000125,"gpu_seconds_min":0.000012,"gpu_seconds_max":0.00002,"tflops":0.00524,"check":"full","bound_ratio":0.25,"ok":true}"#;
        let wrong = right.replace("true}", "false}").replace("0.25", "null");
        let rows = parse("gemm.jsonl", &format!("{right}\n{wrong}\n"));
        assert!(rows.malformed.is_empty());
        let page = text(&rows.rows);
        let lines: Vec<&str> = page.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                "| 32 x 16 x 8 | f16 -> f32 | tt | tiled | 0.0125 (0.012 to 0.02) | 0.00524 | 0.25 | full |",
                "| 32 x 16 x 8 | f16 -> f32 | tt | tiled | 0.0125 (0.012 to 0.02) | 0.00524 | - | full: WRONG |"
            ]
        );
    }
}
