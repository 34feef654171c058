//! A test that runs again in a process of its own, and what the system says of a process.

use super::example;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

const HANDED: &str = "TILEWISE_TEST_CHILD";

/// What this run of a test was handed by [`again`]; None in the first run.
pub fn handed() -> Option<OsString> {
    std::env::var_os(HANDED)
}

/// A command that runs one test of this program again and hands it something. The test's name begins with `module_path!()`.
pub fn again(test: &str, handed: impl AsRef<Path>) -> Command {
    let mut command = example::this();
    // The first module is the program itself.
    let (_, test) = test.split_once("::").expect("the whole name of a test");
    command.args(["--exact", test, "--nocapture"]).env(HANDED, handed.as_ref());
    command
}

/// Whether a test runs in a process of its own, for what would meet other tests: a logger, the validation layer's complaints.
/// If not, the test runs there now; its name begins with `module_path!()`.
pub fn is_alone(test: &str) -> bool {
    let alone = handed().is_some();
    if !alone {
        assert_passes(again(test, "alone"));
    }
    alone
}

/// The same command, after what a shell does first: limits, signals.
#[cfg(unix)]
pub fn after(first: &str, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{first} && exec \"$@\""), "sh"]);
    shell.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
}

/// Asserts that the test passes, and that it ran.
pub fn assert_passes(mut command: Command) {
    let output = command.output().expect("the test runs again");
    let said = String::from_utf8_lossy(&output.stdout);
    let passed = output.status.success() && said.contains("1 passed");
    assert!(passed, "{command:?}: {said}\n{}", String::from_utf8_lossy(&output.stderr));
}

/// Bytes of this process: `VmRSS`, in memory now, or `VmHWM`, the most at once. None where the system does not tell.
pub fn bytes(line: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let value = status.lines().find_map(|said| said.strip_prefix(line)?.strip_prefix(':'))?;
    Some(value.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}
