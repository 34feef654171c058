//! Frames that are written, computed and read, in two ways.

use crate::printed::short;
use bench::table::Table;
use serde::Deserialize;

/// Milliseconds of a frame.
#[derive(Deserialize)]
pub(crate) struct StagingRow {
    staging: String,
    #[serde(rename = "loop")]
    way: String,
    ms_min: f64,
    ms_median: f64,
    ms_max: f64,
}

pub(super) fn text(rows: &[StagingRow]) -> String {
    let mut table = Table::new(["work", "loop", "ms", "median", "slowest"]);
    for row in rows {
        let [min, median, max] = [row.ms_min, row.ms_median, row.ms_max].map(short);
        table.row([row.staging.clone(), row.way.clone(), min, median, max]);
    }
    format!(
        "Milliseconds of the host for one frame of 1 MiB: the fastest round, the median, the slowest.\n\n{table}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use bench::lines::parse;

    #[test]
    fn each_loop_has_a_row() {
        let json = r#"{"staging": "a scale", "loop": "write, to_vec", "ms_min": 1.25, "ms_median": 1.3, "ms_max": 2.0}"#;
        let rows = parse("staging.jsonl", json);
        assert!(rows.malformed.is_empty());
        assert_eq!(text(&rows.rows).lines().last(), Some("| a scale | write, to_vec | 1.25 | 1.3 | 2 |"));
    }
}
