//! The files of a run. What is measured is written after every round, so that an interrupted run leaves it.

use crate::arguments::Args;
use crate::compare::Comparison;
use crate::record::{Row, Run};
use crate::report::Plans;
use crate::roofline::Peak;
use bench::csv;
use bench::file::{replace, sibling};
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
        self.write(run, None, |target, bytes| written(&target.meanwhile(), bytes))?;
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
        written(self.path, bytes)?;
        match std::fs::remove_file(sibling(self.path, "partial")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(unwritable(self.path, &error)),
            _ => Ok(()),
        }
    }
}

fn written(path: &Path, bytes: &[u8]) -> Result<()> {
    replace(path, bytes).map_err(|error| unwritable(path, &error))
}

fn pretty(path: &Path, value: &impl serde::Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec_pretty(value).map_err(|error| unwritable(path, &error))
}

/// The run, with what follows from its figures.
fn json(run: &Run, comparison: Option<&Comparison>) -> Value {
    let rows: Vec<Value> = run.rows.iter().map(|row| row_json(run, row)).collect();
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

fn row_json(run: &Run, row: &Row) -> Value {
    let mut value = json!(row);
    let spread = row.spread();
    for (name, figure) in [
        ("seconds", spread.median),
        ("interquartile_range", spread.range()),
        ("gflops", row.operations() / spread.median * 1e-9),
        ("gbytes", row.bytes as f64 / spread.median * 1e-9),
        ("of_roofline", run.share(row)),
        ("over_predicted", row.over_predicted()),
    ] {
        value[name] = figure.into();
    }
    let limit = run.limit(row);
    value["limit"] = if limit == Peak::Copy { "memory" } else { "arithmetic" }.into();
    value["peak"] = json!(limit);
    value
}

/// The columns of comma-separated values: where each is in the JSON of a row.
const COLUMNS: &str = "op m n k dtype precision pinned kernel tile seconds interquartile_range rounds gflops gbytes \
                       of_roofline peak turns/in_cache predicted_seconds check bound_ratio ok device driver version date";

/// A line for each row.
fn csv(path: &Path, run: &Run) -> Result<Vec<u8>> {
    let row = |row: &Row| {
        let mut value = row_json(run, row);
        value["rounds"] = row.rounds.len().into();
        let Run { device, driver, version, date, .. } = run;
        for (name, label) in [("device", device), ("driver", driver), ("version", version), ("date", date)] {
            value[name] = label.as_str().into();
        }
        value
    };
    let rows: Vec<Value> = run.rows.iter().map(row).collect();
    let columns: Vec<&str> = COLUMNS.split(' ').collect();
    csv::text(&columns, &rows).map_err(|error| unwritable(path, error.as_ref()))
}
