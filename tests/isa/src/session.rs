//! A target's rows: a second process compiles under the target's driver, and the first survives what that does.

use crate::compile;
use crate::row::Row;
use crate::steps::Selection;
use crate::target::Target;
use crate::vulkan::Device;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStderr, ChildStdout, ExitStatus, Stdio};

/// The variable that says which step the second process begins with.
pub const BEGIN: &str = "TILEWISE_ISA_BEGIN";

/// The exit status of a program of Rust that panicked.
const PANICKED: i32 = 101;

/// The rows of a target's plans. `arguments` are those of this program: the second process gets them, too.
///
/// # Errors
/// There is no driver of the target, in one line; or what `each` says, and then nothing more is compiled.
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
        let messages = child.stderr.take().map(|stderr| std::thread::spawn(|| heard(stderr)));
        for row in child.stdout.take().into_iter().flat_map(written) {
            let given = row.and_then(|row| {
                mesa.clone_from(&row.mesa);
                each(row)
            });
            if given.is_err() {
                let _ = child.kill(); // it may have ended
                let _ = child.wait();
                return given;
            }
            next += 1;
        }
        let status = child.wait().map_err(|error| format!("{}: {error}", target.name))?;
        let messages = messages.map(|thread| thread.join().unwrap_or_default()).unwrap_or_default();
        if next == steps.len() {
            break;
        }
        let why = why_it_ended(status, &messages);
        if status.code().is_some_and(|code| code != PANICKED) {
            // There is no driver, or nowhere to write to.
            return Err(target.explained(why));
        }
        // It crashed. NOTE: what comes before a step may be to blame: under a shim RADV crashes at the 517th pipeline,
        // whatever that is. So the step is tried again as the first of another process.
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

/// What the second process does: compiles, and writes a line of JSON for each step.
///
/// # Errors
/// There is no device, or nowhere to write to.
pub fn inside(
    target: &Target,
    selection: &Selection,
    begin: usize,
    folder: Option<&Path>,
) -> Result<(), String> {
    let steps = selection.steps(target);
    let device = Device::open()?;
    let mut out = std::io::stdout().lock();
    for step in steps.iter().skip(begin) {
        let row =
            compile::row(&device, step, folder).map_err(|error| format!("{}: {error}", step.row.name))?;
        let line = serde_json::to_string(&row).map_err(|error| error.to_string())?;
        writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// The rows that a process writes.
fn written(stdout: ChildStdout) -> impl Iterator<Item = Result<Row, String>> {
    let lines = BufReader::new(stdout).lines().map_while(Result::ok);
    lines.map(|line| serde_json::from_str(&line).map_err(|error| format!("{error} in the line {line}")))
}

/// Everything that a process says beside its rows. What the runner says is passed on at once: it may be fetching.
fn heard(stderr: ChildStderr) -> Vec<String> {
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

/// One line: what was said of a panic or an error, else how the process ended.
fn why_it_ended(status: ExitStatus, messages: &[String]) -> String {
    let says =
        |line: &&String| line.contains("panicked") || line.contains("tilewise: ") || line.contains("error: ");
    let Some(at) = messages.iter().position(|line| says(&line)) else { return status.to_string() };
    // A panic's reason stands on the line behind its place.
    let reason = messages[at].contains("panicked").then(|| messages.get(at + 1)).flatten();
    let said = |line: &str| line.trim_start_matches("error: ").trim_start_matches("tilewise: ").to_owned();
    reason.map_or_else(|| said(&messages[at]), |reason| format!("{reason} ({})", messages[at]))
}
