//! The files of a run. What is measured is written after every round, so that an interrupted run leaves it.

use crate::arguments::Args;
use crate::compare::Comparison;
use crate::record::{Peaks, Row, Run};
use crate::report::Plans;
use crate::roofline::Peak;
use pictures::picture::unwritable;
use serde_json::{Value, json};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use tilewise::{Error, Result};

/// The files that the arguments name.
pub(crate) struct Files<'a> {
    save: Option<Target<'a>>,
    json: Option<Target<'a>>,
    csv: Option<Target<'a>>,
    svg: Option<Target<'a>>,
    /// Whether anything that this run measured was written.
    has_progress: Cell<bool>,
}

/// A file to write.
struct Target<'a> {
    path: &'a Path,
    /// Whether it existed before the run. It is then replaced when the run has ended, and not before: it may be the only run
    /// that this one can be compared with.
    existed: bool,
}

impl<'a> Files<'a> {
    /// Refuses files that cannot be written, and those that are read or named twice. No file is changed.
    pub(crate) fn check(args: &'a Args) -> Result<Self> {
        let read = [("--compare", &args.compare), ("--from", &args.from)];
        let written =
            [("--save", &args.save), ("--json", &args.json), ("--csv", &args.csv), ("--svg", &args.svg)];
        let mut named: Vec<(&str, PathBuf)> = Vec::new();
        for (option, path) in read.into_iter().chain(written) {
            let Some(path) = path else { continue };
            let full = std::path::absolute(path).map_err(|error| unwritable(path, &error))?;
            // A new baseline may replace the old one, which has been read before.
            let is_renewed = |other: &str| [option, other] == ["--save", "--compare"];
            let is_read = |option: &str| option == "--compare" || option == "--from";
            let clash = named.iter().find(|(other, known)| {
                *known == full && !is_renewed(other) && !(is_read(option) && is_read(other))
            });
            if let Some((other, _)) = clash {
                let why = format!("is the file of {other} too");
                return Err(Error::Input { what: format!("{option} {}", path.display()), why });
            }
            named.push((option, full));
        }
        let target = |path: &'a Option<PathBuf>| path.as_deref().map(Target::check).transpose();
        Ok(Self {
            save: target(&args.save)?,
            json: target(&args.json)?,
            csv: target(&args.csv)?,
            svg: target(&args.svg)?,
            has_progress: Cell::new(false),
        })
    }

    /// Writes what was measured so far.
    pub(crate) fn write_progress(&self, run: &Run) -> Result<()> {
        self.write(run, None, |target, bytes| replace(&target.meanwhile(), bytes))?;
        self.has_progress.set(true);
        Ok(())
    }

    /// Writes what was measured.
    pub(crate) fn write_all(&self, run: &Run, comparison: Option<&Comparison>) -> Result<()> {
        self.write(run, comparison, |target, bytes| target.finish(bytes))
    }

    /// Writes a picture.
    pub(crate) fn write_picture(&self, picture: impl FnOnce() -> Result<String>) -> Result<()> {
        match &self.svg {
            Some(target) => target.finish(picture()?.as_bytes()),
            None => Ok(()),
        }
    }

    /// Where what was measured is while the run goes on, if it is saved.
    pub(crate) fn saved_meanwhile(&self) -> Option<PathBuf> {
        self.save.as_ref().filter(|_| self.has_progress.get()).map(Target::meanwhile)
    }

    fn write(
        &self,
        run: &Run,
        comparison: Option<&Comparison>,
        write: impl Fn(&Target<'_>, &[u8]) -> Result<()>,
    ) -> Result<()> {
        if let Some(target) = &self.json {
            write(target, &pretty(target.path, &json(run, comparison))?)?;
        }
        if let Some(target) = &self.csv {
            write(target, &csv(target.path, run)?)?;
        }
        // Last: who finds a row in it finds the row in the others, too.
        if let Some(target) = &self.save {
            write(target, &pretty(target.path, run)?)?;
        }
        Ok(())
    }
}

impl<'a> Target<'a> {
    /// Refuses a file that cannot be written.
    fn check(path: &'a Path) -> Result<Self> {
        let existed = match std::fs::metadata(path) {
            Ok(found) if found.is_file() => true,
            Ok(_) => {
                let why = "cannot be written: it is no regular file".into();
                return Err(Error::Input { what: path.display().to_string(), why });
            }
            Err(_) => false,
        };
        let trial = sibling(path, "new");
        let tried = std::fs::write(&trial, []).and_then(|()| std::fs::remove_file(&trial));
        tried.map_err(|error| unwritable(path, &error))?;
        Ok(Self { path, existed })
    }

    /// The file that has what was measured while the run goes on.
    fn meanwhile(&self) -> PathBuf {
        if self.existed { sibling(self.path, "partial") } else { self.path.to_owned() }
    }

    /// Writes the whole file, in place of what there was.
    fn finish(&self, bytes: &[u8]) -> Result<()> {
        replace(self.path, bytes)?;
        match std::fs::remove_file(sibling(self.path, "partial")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(unwritable(self.path, &error)),
            _ => Ok(()),
        }
    }
}

/// The file next to this one whose name ends in this, too.
fn sibling(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(end);
    name.into()
}

/// Replaces a file whole: who reads it meanwhile, or after an interruption, finds the old one or the new one.
fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let new = sibling(path, "new");
    let written = std::fs::write(&new, bytes).and_then(|()| std::fs::rename(&new, path));
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
    value["predictions"] = json!({
        "untuned": run.predictions(Plans::Untuned),
        "tuned": run.predictions(Plans::Tuned),
    });
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
        ("gflops", row.operations() / spread.median * 1e-9),
        ("gbytes", row.bytes as f64 / spread.median * 1e-9),
        ("of_roofline", peaks.share(row)),
        ("over_predicted", row.over_predicted()),
    ] {
        value[name] = figure.into();
    }
    let limit = peaks.limit(row);
    value["limit"] = if limit == Peak::Copy { "memory" } else { "arithmetic" }.into();
    value["peak"] = json!(limit);
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
        "peak",
        "in_cache",
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
            (row.operations() / spread.median * 1e-9).to_string(),
            (row.bytes as f64 / spread.median * 1e-9).to_string(),
            run.peaks.share(row).to_string(),
            run.peaks.limit(row).to_string(),
            row.turns.in_cache.to_string(),
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
