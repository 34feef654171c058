//! Products as a share of the device's peaks, measured in the same run.

use super::notes::Notes;
use crate::printed::{short, short_or_dash};
use bench::table::Table;
use serde::Deserialize;
use serde_json::Value;

/// A row of the bench `gemm`.
#[derive(Deserialize)]
#[serde(try_from = "Value")]
pub(crate) enum PeakRow {
    /// The peaks.
    Peaks(Peaks),
    /// A product.
    Product(Rate),
    /// A size without products.
    LeftOut(LeftOut),
}

/// What the device reaches at best.
#[derive(Deserialize)]
pub(crate) struct Peaks {
    peak_flops: f64,
    peak_bytes: f64,
    second_gpu_seconds: f64,
}

/// What a product reaches.
#[derive(Deserialize)]
pub(crate) struct Rate {
    m: u64,
    n: u64,
    k: u64,
    dtype: String,
    kernel: String,
    tflops: f64,
    tflops_median: f64,
    of_f32_peak: f64,
    of_naive: Option<f64>,
}

/// Why the products of a size were not timed.
#[derive(Deserialize)]
pub(crate) struct LeftOut {
    m: u64,
    n: u64,
    k: u64,
    left_out: String,
}

impl TryFrom<Value> for PeakRow {
    type Error = serde_json::Error;

    fn try_from(value: Value) -> serde_json::Result<Self> {
        if value.get("peak_flops").is_some() {
            return serde_json::from_value(value).map(Self::Peaks);
        }
        if value.get("left_out").is_some() {
            return serde_json::from_value(value).map(Self::LeftOut);
        }
        serde_json::from_value(value).map(Self::Product)
    }
}

pub(super) fn text(rows: &[PeakRow]) -> String {
    let mut text = String::new();
    let mut left_out = Notes::new("Not timed");
    let mut table =
        Table::new(["m x n x k", "type", "kernel", "TFLOP/s (median)", "of the f32 peak", "times naive"]);
    for row in rows {
        match row {
            PeakRow::Peaks(peaks) => {
                text += &format!(
                    "Peaks, measured in the same run: {} TFLOP/s by a loop of multiply-adds in f32, {} GB/s by a copy. Opening \
                     a second Gpu: {} ms.\n\n",
                    short(peaks.peak_flops * 1e-12),
                    short(peaks.peak_bytes * 1e-9),
                    short(peaks.second_gpu_seconds * 1e3),
                );
            }
            PeakRow::Product(rate) => table.row([
                format!("{} x {} x {}", rate.m, rate.n, rate.k),
                rate.dtype.clone(),
                rate.kernel.clone(),
                format!("{} ({})", short(rate.tflops), short(rate.tflops_median)),
                format!("{}%", short(rate.of_f32_peak * 100.0)),
                short_or_dash(rate.of_naive),
            ]),
            PeakRow::LeftOut(LeftOut { m, n, k, left_out: why }) => {
                left_out.add(why, "every kernel", format!("{m} x {n} x {k}"));
            }
        }
    }
    text + &table.to_string() + &left_out.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bench::lines::parse;

    #[test]
    fn a_size_without_room_has_a_reason() {
        let json = r#"{"m":64,"n":64,"k":64,"left_out":"C has 16384 bytes"}"#;
        let rows = parse("peaks.jsonl", json);
        assert!(rows.malformed.is_empty());
        let page = text(&rows.rows);
        assert!(
            page.ends_with("\nNot timed:\n\n- C has 16384 bytes: every kernel (64 x 64 x 64)\n"),
            "{page}"
        );
    }

    #[test]
    fn products_are_shares_of_the_peak() {
        let json = r#"{"device":"d","driver":"e","peak_flops":4.6e10,"peak_bytes":1.01e10,"second_gpu_seconds":0.015}
{"kernel":"auto","dtype":"f32","m":512,"n":512,"k":512,"tflops":0.0184,"tflops_median":0.0173,"of_f32_peak":0.4025,"of_naive":10.5}
{"kernel":"naive","dtype":"f32","m":512,"n":512,"k":512,"tflops":0.0018,"tflops_median":0.0017,"of_f32_peak":0.04,"of_naive":null}"#;
        let rows = parse("peaks.jsonl", json);
        assert!(rows.malformed.is_empty());
        let page = text(&rows.rows);
        assert!(page.starts_with("Peaks, measured in the same run: 0.046 TFLOP/s by a loop"), "{page}");
        assert!(
            page.contains("10.1 GB/s by a copy. Opening a second Gpu: 15 ms.\n\n| m x n x k |"),
            "{page}"
        );
        assert!(
            page.contains("\n| 512 x 512 x 512 | f32 | auto | 0.0184 (0.0173) | 40.2% | 10.5 |\n"),
            "{page}"
        );
        assert!(page.ends_with("| 512 x 512 x 512 | f32 | naive | 0.0018 (0.0017) | 4% | - |\n"), "{page}");
    }
}
