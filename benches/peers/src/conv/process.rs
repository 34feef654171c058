//! Runs a case in a process of its own, and again without a side that ends the process.

use super::cubek::NAME;
use super::rows::{ConvRow, Stopped};
use super::shape::Shape;
use crate::case::Type;
use crate::error::{Error, Result};
use crate::rows::SideRow;
use bench::process::{output, this_program};
use bench::rows::Outcome;
use serde::Deserialize;
use std::fs;
use std::time::Duration;

/// What a process prints.
#[derive(Deserialize)]
#[serde(untagged)]
enum Printed {
    Row(Box<ConvRow>),
    Stopped(Stopped),
}

/// Measures a case; the text says why it has no results.
pub(crate) fn measure(
    shape: &Shape,
    dtype: Type,
    rounds: u64,
    limit: Duration,
) -> Result<Result<ConvRow, String>> {
    let trace = std::env::temp_dir().join(format!("tilewise-peers-side-{}", std::process::id()));
    let mut failed: Vec<SideRow> = Vec::new();
    let ended = loop {
        // What an earlier process left there is gone.
        let _ = fs::remove_file(&trace);
        let mut command = this_program();
        command.args(["conv-case", &shape.to_string(), &dtype.to_string()]);
        command.args(["--rounds", &rounds.to_string()]).arg("--trace").arg(&trace);
        let without: Vec<&str> = failed.iter().map(|side| side.kernel.as_str()).collect();
        if !without.is_empty() {
            command.args(["--without", &without.join(",")]);
        }
        let program = command.get_program().to_string_lossy().into_owned();
        let ended = output(command, limit).map_err(|source| Error::Process { program, source })?;
        let why = match ended {
            None => format!("its process was ended after {} s", limit.as_secs()),
            Some((status, _)) if !status.success() => format!("its process ended with {status}"),
            Some((_, text)) => match serde_json::from_str(text.trim()) {
                Ok(Printed::Row(row)) => break Ok(*row),
                Ok(Printed::Stopped(Stopped { stopped, error })) => {
                    failed.push(side(stopped, error));
                    continue;
                }
                Err(error) => break Err(format!("its process printed no result: {error}")),
            },
        };
        let tried = fs::read_to_string(&trace).unwrap_or_default();
        if tried.is_empty() || failed.iter().any(|side| side.kernel == tried) {
            break Err(why);
        }
        failed.push(side(tried, why));
    };
    let _ = fs::remove_file(&trace); // in the folder of temporary files
    Ok(ended.map(|mut row| {
        row.sides.extend(failed);
        row
    }))
}

/// The row of a side that ended its process.
fn side(kernel: String, error: String) -> SideRow {
    SideRow { name: NAME.into(), kernel, outcome: Outcome::Failed { error } }
}
