//! Runs a test again in a separate process, and reads a process's memory use.
#![expect(unsafe_code, reason = "the C library gives memory back where it is asked to")]

use super::example;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

const HANDED: &str = "TILEWISE_TEST_CHILD";

/// The value that [`again`] passed to this run of a test. None in the first run.
pub fn handed() -> Option<OsString> {
    std::env::var_os(HANDED)
}

/// A command that runs one test of this program again and passes it a value. The test's name begins with `module_path!()`.
pub fn again(test: &str, handed: impl AsRef<Path>) -> Command {
    let mut command = example::this();
    // The first module of the path is the program itself.
    let (_, test) = test.split_once("::").expect("the whole name of a test");
    command.args(["--exact", test, "--nocapture"]).env(HANDED, handed.as_ref());
    command
}

/// Whether a test runs in a separate process, which it needs to avoid other tests' loggers or validation messages. If not, this
/// function runs it there now. The test's name begins with `module_path!()`.
pub fn is_alone(test: &str) -> bool {
    let alone = handed().is_some();
    if !alone {
        assert_passes(again(test, "alone"));
    }
    alone
}

/// The same command, run by a shell after other commands, such as those that set limits or signals.
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

/// Asserts that the test ran and passed.
pub fn assert_passes(mut command: Command) {
    let output = command.output().expect("the test runs again");
    let said = String::from_utf8_lossy(&output.stdout);
    let passed = output.status.success() && said.contains("1 passed");
    assert!(passed, "{command:?}: {said}\n{}", String::from_utf8_lossy(&output.stderr));
}

/// This process's memory in bytes: `VmRSS` is the current use, `VmHWM` the peak. None if the system does not report it.
pub fn bytes(line: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let value = status.lines().find_map(|said| said.strip_prefix(line)?.strip_prefix(':'))?;
    Some(value.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    /// What glibc says of its heap, in bytes but for the numbers of chunks.
    #[repr(C)]
    pub(super) struct MallInfo2 {
        pub(super) from_system: usize,
        pub(super) free_chunks: [usize; 3],
        pub(super) mapped: usize,
        pub(super) fast: [usize; 2],
        pub(super) in_use: usize,
        pub(super) free: [usize; 2],
    }

    unsafe extern "C" {
        pub(super) safe fn mallinfo2() -> MallInfo2;
        pub(super) safe fn malloc_trim(keep: usize) -> i32;
    }
}

/// Bytes of the C library's heap that are allocated, by drivers too. None where that library is not glibc.
pub fn allocated() -> Option<u64> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    let bytes = {
        let info = glibc::mallinfo2();
        Some((info.in_use + info.mapped) as u64)
    };
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let bytes = None;
    bytes
}

/// This process's resident bytes, after the C library has given back what is free in its heap. None if the system does not
/// report it.
pub fn resident() -> Option<u64> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    glibc::malloc_trim(0);
    bytes("VmRSS")
}
