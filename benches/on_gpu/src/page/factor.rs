//! Factorisations through sketches against those of the CPU.

use crate::printed::short;
use bench::table::Table;
use serde::Deserialize;

/// A factorisation and what `faer` has for the same question.
#[derive(Deserialize)]
pub(crate) struct FactorRow {
    case: String,
    m: u64,
    n: u64,
    seconds: f64,
    baseline: String,
    seconds_f32: f64,
    seconds_f64: f64,
    times_faster_than_f32: f64,
    share_of_products: Option<f64>,
    error_over_best: Option<f64>,
}

pub(super) fn text(rows: &[FactorRow]) -> String {
    let mut table = Table::new([
        "factorisation",
        "m x n",
        "ms",
        "baseline",
        "ms in f32",
        "ms in f64",
        "times faster than f32",
        "share of products",
        "error over the best",
    ]);
    for row in rows {
        let [own, single, double] =
            [row.seconds, row.seconds_f32, row.seconds_f64].map(|seconds| short(1e3 * seconds));
        let share = row.share_of_products.map_or(String::new(), |share| format!("{:.0}%", 100.0 * share));
        let error = row.error_over_best.map_or(String::new(), |error| format!("{error:.4}"));
        let size = format!("{} x {}", row.m, row.n);
        let faster = short(row.times_faster_than_f32);
        let cells = [&row.case, &size, &own, &row.baseline, &single, &double, &faster, &share, &error];
        table.row(cells.map(String::as_str));
    }
    format!(
        "Medians of rounds in which all sides are timed in turn. The baseline is `faer` on all threads of the CPU.\n\n{table}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use bench::lines::parse;

    #[test]
    fn what_a_factorisation_does_not_have_is_left_empty() {
        let json = r#"{"case":"rsvd","m":64,"n":32,"seconds":0.002,"baseline":"faer's full svd, all threads","seconds_f32":0.004,"seconds_f64":0.005,"times_faster_than_f32":2.0,"share_of_products":0.523,"error_over_best":1.23456}
{"case":"cqrrpt","m":640,"n":8,"seconds":0.002,"baseline":"faer's pivoted qr, all threads","seconds_f32":0.004,"seconds_f64":0.005,"times_faster_than_f32":2.0,"rank":8}"#;
        let rows = parse("factor.jsonl", json);
        assert!(rows.malformed.is_empty());
        let page = text(&rows.rows);
        let lines: Vec<&str> = page.lines().skip(4).collect();
        assert_eq!(
            lines,
            [
                "| rsvd | 64 x 32 | 2 | faer's full svd, all threads | 4 | 5 | 2 | 52% | 1.2346 |",
                "| cqrrpt | 640 x 8 | 2 | faer's pivoted qr, all threads | 4 | 5 | 2 |  |  |"
            ]
        );
    }
}
