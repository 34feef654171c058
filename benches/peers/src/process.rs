//! Runs a case in a process of its own.

use crate::case::Case;
use crate::error::{Error, Result};
use crate::rows::{CaseRow, Line};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How often a process is asked whether it has ended.
const POLL: Duration = Duration::from_millis(20);

/// Measures a case in a process of its own; the text says why it has no results.
pub(crate) fn measure(case: Case, rounds: u64, limit: Duration) -> Result<Result<CaseRow, String>> {
    let mut command = this_program();
    command.args(["case", &case.size.to_string(), &case.dtype.to_string()]);
    command.args(case.strategy.map(|strategy| strategy.to_string()));
    command.args(["--rounds", &rounds.to_string()]);
    output(command, limit).map(|output| match output {
        Ended::Late => Err(format!("its process was ended after {} s", limit.as_secs())),
        Ended::With(status, _) if !status.success() => Err(format!("its process ended with {status}")),
        Ended::With(_, text) => match Line::parse(text.trim()) {
            Ok(Line::Case(row)) => Ok(*row),
            Ok(_) => Err("its process printed a line of another kind".into()),
            Err(error) => Err(format!("its process printed no result: {error}")),
        },
    })
}

/// How a process ended, with what it printed.
enum Ended {
    With(ExitStatus, String),
    Late,
}

/// Starts a program and waits until it ends, or ends it after `limit`.
fn output(mut command: Command, limit: Duration) -> Result<Ended> {
    let program = command.get_program().to_string_lossy().into_owned();
    let failed = |source| Error::Process { program: program.clone(), source };
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(failed)?;
    let stdout = child.stdout.take();
    let reader = thread::spawn(move || {
        let mut text = String::new();
        // What cannot be read is no result, which the caller reports.
        let _ = stdout.map(|mut stdout| stdout.read_to_string(&mut text));
        text
    });
    let Some(status) = wait(&mut child, limit).map_err(failed)? else { return Ok(Ended::Late) };
    Ok(Ended::With(status, reader.join().unwrap_or_default()))
}

/// The exit status, or nothing if the process had to be ended.
fn wait(child: &mut Child, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    while start.elapsed() < limit {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(POLL);
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// A command that runs this program again, on the same driver.
fn this_program() -> Command {
    let called = std::env::args_os().next().map_or_else(|| PathBuf::from("peers"), PathBuf::from);
    let running = std::env::current_exe().unwrap_or_else(|_| called.clone());
    // NOTE: if cargo's runner has fetched a driver, this program runs under the fetched ld.so, which the system then
    // reports as the running program. The variables that the runner set must go, because the next runner would take
    // them for the user's own driver.
    if running.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ld-")) {
        let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.cargo/runner"));
        command.arg(called).env_remove("VK_DRIVER_FILES").env_remove("VK_LAYER_PATH");
        return command;
    }
    Command::new(running)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_process_that_takes_too_long_is_ended() {
        let start = Instant::now();
        let ended = output(shell("exec sleep 60"), Duration::from_millis(100));
        assert!(matches!(ended, Ok(Ended::Late)));
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn output_and_status_of_a_process_are_returned() {
        let ended = output(shell("echo one; exit 3"), Duration::from_secs(60));
        let Ok(Ended::With(status, text)) = ended else { panic!("it did not end") };
        assert_eq!((status.code(), text.as_str()), (Some(3), "one\n"));
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = output(Command::new("/no/such/program"), Duration::from_secs(1)).err();
        assert!(error.is_some_and(|error| error.to_string().starts_with("cannot start /no/such/program: ")));
    }
}
