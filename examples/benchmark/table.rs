//! The table of a run.

use crate::choice::Choice;
use crate::record::{Row, Run};
use crate::roofline::Peak;
use bench::table::Table;
use support::significant;

const HEAD: [&str; 12] = [
    "op",
    "size",
    "type",
    "precision",
    "kernel",
    "median",
    "spread",
    "rate",
    "roofline",
    "predicted",
    "ratio",
    "check",
];
/// Columns of words; the others are of numbers.
const WORDS: [&str; 6] = ["op", "size", "type", "precision", "kernel", "check"];

/// The rows of a run as a table.
pub(crate) fn text(run: &Run) -> String {
    let mut table = Table::new(HEAD);
    run.rows.iter().for_each(|row| table.row(cells(run, row)));
    table.aligned(&WORDS)
}

fn cells(run: &Run, row: &Row) -> [String; 12] {
    let spread = row.spread();
    let chosen = match row.choice {
        Choice::Predicted => String::new(),
        choice => format!(", {choice}"),
    };
    let verdict = if row.ok { "ok" } else { "WRONG" };
    [
        row.op.clone(),
        row.size(),
        row.dtype.clone(),
        row.precision.clone().unwrap_or_else(|| "-".into()),
        format!("{} {}{chosen}", row.kernel_name(), short(&row.tile)),
        seconds(spread.median),
        format!("{:.1}%", spread.range() / spread.median * 100.0),
        rate(run, row),
        share(run, row),
        seconds(row.predicted_seconds),
        format!("{:.2}", row.over_predicted()),
        format!("{verdict}, {}, {} of the bound", row.check, significant(row.bound_ratio)),
    ]
}

/// A tile without its details: `32x64x8` of `32x64x8 (8x8 per invocation)`.
fn short(tile: &str) -> &str {
    tile.split([',', '(']).next().unwrap_or(tile).trim_end()
}

/// `12.3 us`, `1.23 ms`.
fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{} us", significant(s * 1e6)),
        s if s < 1.0 => format!("{} ms", significant(s * 1e3)),
        s => format!("{} s", significant(s)),
    }
}

/// Operations per second if arithmetic limits the row, else bytes per second.
fn rate(run: &Run, row: &Row) -> String {
    let median = row.spread().median;
    match run.limit(row) {
        Peak::Copy => format!("{} GB/s", significant(row.bytes as f64 / median * 1e-9)),
        _ => {
            let unit = if row.dtype == "i8" { "GOP/s" } else { "GFLOP/s" };
            format!("{} {unit}", significant(row.operations() / median * 1e-9))
        }
    }
}

/// `45% of f32`, `131% of copy, in cache`.
fn share(run: &Run, row: &Row) -> String {
    let limit = match run.limit(row) {
        // What generates random numbers.
        Peak::I8 if row.dtype != "i8" => "integers".into(),
        limit => limit.to_string(),
    };
    let in_cache = if row.turns.in_cache { ", in cache" } else { "" };
    format!("{:.0}% of {limit}{in_cache}", run.share(row) * 100.0)
}
