//! Compiles a target's steps in a second process that runs under the target's driver. The first process survives its crashes.

use crate::compile;
use crate::row::Row;
use crate::steps::Selection;
use crate::target::Target;
use crate::vulkan::Device;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStderr, ChildStdout, ExitStatus, Stdio};

/// The environment variable with the index of the second process's first step.
pub const BEGIN: &str = "TILEWISE_ISA_BEGIN";

/// The exit status of a Rust program that panicked.
const PANICKED: i32 = 101;

/// Compiles a target's plans and calls `each` with every row. `arguments` are those of this program; the second process
/// receives them too.
///
/// # Errors
/// A message of one line if the target has no driver. An error of `each` is returned and ends the compilation.
pub fn rows(
    target: &Target,
    selection: &Selection,
    arguments: &[OsString],
    mut each: impl FnMut(Row) -> Result<(), String>,
) -> Result<(), String> {
    let steps = selection.steps(target);
    let mut mesa = String::new();
    let mut next = 0;
    while next < steps.len() {
        let begin = next;
        let mut command = target.under_its_driver()?;
        command.args(arguments).env(BEGIN, begin.to_string());
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", target.name))?;
        let messages = child.stderr.take().map(|stderr| std::thread::spawn(|| error_lines(stderr)));
        for row in child.stdout.take().into_iter().flat_map(printed_rows) {
            let result = row.and_then(|row| {
                mesa.clone_from(&row.mesa);
                each(row)
            });
            if result.is_err() {
                let _ = child.kill(); // fails if the process has already ended
                let _ = child.wait();
                return result;
            }
            next += 1;
        }
        let status = child.wait().map_err(|error| format!("{}: {error}", target.name))?;
        let messages = messages.map(|thread| thread.join().unwrap_or_default()).unwrap_or_default();
        if next == steps.len() {
            break;
        }
        let why = exit_reason(status, &messages);
        if status.code().is_some_and(|code| code != PANICKED) {
            // The driver is missing, or the folder cannot be written.
            return Err(target.explained(why));
        }
        // The compiler crashed. NOTE: an earlier step may be the cause: under a shim RADV crashes at the 517th pipeline,
        // whatever it is. So the step is tried again as the first of another process.
        if next > begin {
            continue;
        }
        each(Row {
            mesa: mesa.clone(),
            refused: Some(format!("the compiler crashed: {why}")),
            ..steps[next].row.clone()
        })?;
        next += 1;
    }
    Ok(())
}

/// The work of the second process: compiles each step and writes its row as a line of JSON.
///
/// # Errors
/// A message if there is no device, or if a row or a file cannot be written.
pub fn inside(
    target: &Target,
    selection: &Selection,
    begin: usize,
    folder: Option<&Path>,
) -> Result<(), String> {
    let steps = selection.steps(target);
    let device = Device::open(selection.access)?;
    let mut out = std::io::stdout().lock();
    for step in steps.iter().skip(begin) {
        let row =
            compile::row(&device, step, folder).map_err(|error| format!("{}: {error}", step.row.name))?;
        let line = serde_json::to_string(&row).map_err(|error| error.to_string())?;
        writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// The rows that a process prints.
fn printed_rows(stdout: ChildStdout) -> impl Iterator<Item = Result<Row, String>> {
    let lines = BufReader::new(stdout).lines().map_while(Result::ok);
    lines.map(|line| serde_json::from_str(&line).map_err(|error| format!("{error} in the line {line}")))
}

/// The error output of a process. The runner's messages about a running download are printed at once.
fn error_lines(stderr: ChildStderr) -> Vec<String> {
    let mut lines = Vec::new();
    for line in BufReader::new(stderr).lines().map_while(Result::ok) {
        if line.starts_with("tilewise: fetching") {
            eprintln!("{line}");
        } else {
            lines.push(line);
        }
    }
    lines
}

/// The reason why a process ended, in one line: its panic or error message, otherwise its exit status.
fn exit_reason(status: ExitStatus, messages: &[String]) -> String {
    let says =
        |line: &&String| line.contains("panicked") || line.contains("tilewise: ") || line.contains("error: ");
    let Some(at) = messages.iter().position(|line| says(&line)) else { return status.to_string() };
    // A panic's message is on the line after its location.
    let reason = messages[at].contains("panicked").then(|| messages.get(at + 1)).flatten();
    let said = |line: &str| line.trim_start_matches("error: ").trim_start_matches("tilewise: ").to_owned();
    reason.map_or_else(|| said(&messages[at]), |reason| format!("{reason} ({})", messages[at]))
}
