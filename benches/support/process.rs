//! Processes that a program starts, and ends when their time is up.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How often a process is asked whether it has ended.
const POLL: Duration = Duration::from_millis(20);

/// The status of a process, or nothing if it had to be ended at the deadline.
///
/// NOTE: only the process itself is ended. What it started ends by itself.
pub fn wait(child: &mut Child, deadline: Instant) -> io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(POLL);
    }
}

/// Starts a program and returns its status with what it printed, or nothing if it had to be ended after `limit`.
pub fn output(mut command: Command, limit: Duration) -> io::Result<Option<(ExitStatus, String)>> {
    let deadline = Instant::now() + limit;
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let stdout = child.stdout.take();
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        // What cannot be read is no result, which the caller reports.
        let _ = stdout.map(|mut stdout| stdout.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let Some(status) = wait(&mut child, deadline)? else { return Ok(None) };
    Ok(Some((status, reader.join().unwrap_or_default())))
}

/// A command that runs this program again, under the name by which it was called and on the same driver.
pub fn this_program() -> Command {
    let called = PathBuf::from(std::env::args_os().next().unwrap_or_default());
    // NOTE: if cargo's runner has fetched a driver, this program runs under the fetched ld.so, which the system then
    // reports as the running program. The variables that the runner set must go, because the next runner would take
    // them for the user's own driver.
    let is_under_runner = std::env::current_exe()
        .is_ok_and(|exe| exe.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ld-")));
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let runner = folders.map(|folder| folder.join(".cargo/runner")).find(|runner| runner.is_file());
    match runner.filter(|_| is_under_runner) {
        Some(runner) => {
            let mut command = Command::new(runner);
            command.arg(called).env_remove("VK_DRIVER_FILES").env_remove("VK_LAYER_PATH");
            command
        }
        None => Command::new(called),
    }
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
        assert!(matches!(output(shell("exec sleep 60"), Duration::from_millis(100)), Ok(None)));
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn output_and_status_of_a_process_are_returned() {
        let ended = output(shell("echo one; exit 3"), Duration::from_secs(60));
        let Ok(Some((status, text))) = ended else { panic!("it did not end") };
        assert_eq!((status.code(), text.as_str()), (Some(3), "one\n"));
        assert!(output(Command::new("/no/such/program"), Duration::from_secs(1)).is_err());
    }
}
