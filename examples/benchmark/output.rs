//! The files of a run. They are written anew after every round, so that an interrupted run leaves what it measured.

use crate::arguments::Args;
use crate::compare::Comparison;
use crate::record::{Peaks, Row, Run};
use crate::roofline::Limit;
use crate::support::picture::unwritable;
use serde_json::{Value, json};
use std::path::Path;
use tilewise::{Error, Result};

/// Writes the files that the arguments name.
pub(crate) fn write(args: &Args, run: &Run, comparison: Option<&Comparison>) -> Result<()> {
    if let Some(path) = &args.save {
        replace(path, &pretty(path, run)?)?;
    }
    if let Some(path) = &args.json {
        replace(path, &pretty(path, &json(run, comparison))?)?;
    }
    if let Some(path) = &args.csv {
        replace(path, &csv(path, run)?)?;
    }
    Ok(())
}

/// Replaces a file whole: who reads it meanwhile, or after an interruption, finds the old one or the new one.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let written = std::fs::write(&partial, bytes).and_then(|()| std::fs::rename(&partial, path));
    written.map_err(|error| unwritable(path, &error))
}

fn pretty(path: &Path, value: &impl serde::Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec_pretty(value).map_err(|error| unwritable(path, &error))
}

/// The run, with what follows from its figures.
fn json(run: &Run, comparison: Option<&Comparison>) -> Value {
    let rows: Vec<Value> = run.rows.iter().map(|row| row_json(&run.peaks, row)).collect();
    let mut value = json!(run);
    value["rows"] = rows.into();
    value["predicted_within_2"] = run.predicted_within(2.0).into();
    value["predicted_within_1_3"] = run.predicted_within(1.3).into();
    value["comparison"] = json!(comparison);
    value["ok"] = run.ok().into();
    value
}

fn row_json(peaks: &Peaks, row: &Row) -> Value {
    let mut value = json!(row);
    let spread = row.spread();
    for (name, figure) in [
        ("seconds", spread.median),
        ("interquartile_range", spread.range),
        ("gflops", row.flops() / spread.median * 1e-9),
        ("gbytes", row.bytes as f64 / spread.median * 1e-9),
        ("of_roofline", peaks.share(row)),
        ("over_predicted", row.over_predicted()),
    ] {
        value[name] = figure.into();
    }
    value["limit"] = if peaks.limit(row) == Limit::Memory { "memory" } else { "arithmetic" }.into();
    value
}

/// A line for each row.
fn csv(path: &Path, run: &Run) -> Result<Vec<u8>> {
    let refuse = |error: csv::Error| unwritable(path, &error);
    let mut table = csv::Writer::from_writer(Vec::new());
    let columns = [
        "op",
        "m",
        "n",
        "k",
        "dtype",
        "precision",
        "pinned",
        "kernel",
        "tile",
        "seconds",
        "interquartile_range",
        "rounds",
        "gflops",
        "gbytes",
        "of_roofline",
        "predicted_seconds",
        "check",
        "bound_ratio",
        "ok",
        "device",
        "driver",
        "version",
        "date",
    ];
    table.write_record(columns).map_err(refuse)?;
    for row in &run.rows {
        let spread = row.spread();
        let of = |part: &Option<String>| part.clone().unwrap_or_default();
        let record = [
            row.op.clone(),
            row.m.to_string(),
            row.n.to_string(),
            row.k.to_string(),
            row.dtype.clone(),
            of(&row.precision),
            of(&row.pinned),
            row.kernel.clone(),
            row.tile.clone(),
            spread.median.to_string(),
            spread.range.to_string(),
            row.rounds.len().to_string(),
            (row.flops() / spread.median * 1e-9).to_string(),
            (row.bytes as f64 / spread.median * 1e-9).to_string(),
            run.peaks.share(row).to_string(),
            row.predicted_seconds.to_string(),
            row.check.clone(),
            row.bound_ratio.to_string(),
            row.ok.to_string(),
            run.device.clone(),
            run.driver.clone(),
            run.version.clone(),
            run.date.clone(),
        ];
        table.write_record(record).map_err(refuse)?;
    }
    table.into_inner().map_err(|error| Error::Input {
        what: path.display().to_string(),
        why: format!("cannot be written: {error}"),
    })
}
