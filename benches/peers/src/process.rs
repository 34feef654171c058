//! Runs a case in a process of its own.

use crate::case::Case;
use crate::error::{Error, Result};
use crate::rows::CaseRow;
use bench::process::{output, this_program};
use std::time::Duration;

/// Measures a case in a process of its own; the text says why it has no results.
pub(crate) fn measure(case: Case, rounds: u64, limit: Duration) -> Result<Result<CaseRow, String>> {
    let mut command = this_program();
    command.args(["case", &case.size.to_string(), &case.dtype.to_string()]);
    command.args(case.strategy.map(|strategy| strategy.to_string()));
    command.args(["--rounds", &rounds.to_string()]);
    let program = command.get_program().to_string_lossy().into_owned();
    let ended = output(command, limit).map_err(|source| Error::Process { program, source })?;
    Ok(match ended {
        None => Err(format!("its process was ended after {} s", limit.as_secs())),
        Some((status, _)) if !status.success() => Err(format!("its process ended with {status}")),
        Some((_, text)) => serde_json::from_str(text.trim())
            .map_err(|error| format!("its process printed no result: {error}")),
    })
}
