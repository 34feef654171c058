//! What operations cost the host.

use crate::printed::short;
use bench::table::Table;
use serde::Deserialize;

/// Host microseconds of one operation of a shape seen before.
#[derive(Deserialize)]
pub(crate) struct HostRow {
    host: String,
    launches: Option<u64>,
    host_us_min: f64,
    host_us_median: f64,
    host_us_max: f64,
}

pub(super) fn text(rows: &[HostRow]) -> String {
    let mut table = Table::new(["operation", "launches", "us", "median", "slowest"]);
    for row in rows {
        let launches = row.launches.map_or("-".into(), |launches| launches.to_string());
        let [min, median, max] = [row.host_us_min, row.host_us_median, row.host_us_max].map(short);
        table.row([row.host.clone(), launches, min, median, max]);
    }
    format!(
        "Microseconds of the host for one operation of a shape seen before, on wgpu's noop backend: the fastest run, the \
         median, the slowest.\n\n{table}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use bench::lines::parse;

    #[test]
    fn each_operation_has_a_row() {
        let json =
            r#"{"host":"product","launches":1,"host_us_min":2.891,"host_us_median":3.1,"host_us_max":12.0}"#;
        let rows = parse("host.jsonl", json);
        assert!(rows.malformed.is_empty());
        assert_eq!(text(&rows.rows).lines().last(), Some("| product | 1 | 2.89 | 3.1 | 12 |"));
    }
}
