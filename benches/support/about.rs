//! What a result is labelled with, next to its device: when, of which commit and by which command it was measured.

use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

/// The time, in UTC: `2026-11-28T18:44:32Z`.
pub fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// The date, in UTC: `2026-11-28`.
pub fn today() -> String {
    now().split('T').next().unwrap_or_default().into()
}

/// The commit of a checkout, if git knows it.
pub fn commit(root: &Path) -> Option<String> {
    let git = Command::new("git").args(["rev-parse", "--short", "HEAD"]).current_dir(root).output().ok()?;
    git.status.success().then(|| String::from_utf8_lossy(&git.stdout).trim().to_owned())
}

/// The command with which this process was called; `program` stands for the program.
pub fn command(program: &str) -> String {
    let arguments = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    arguments.fold(program.into(), |command, argument| command + " " + &argument)
}
