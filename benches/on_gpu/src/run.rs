//! Starts programs and stops them at the end of their section's time.

use crate::error::{Error, Result};
use crate::log::Log;
use crate::settings::Settings;
use bench::process::wait;
use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A command of a section: its name in the log, and the process.
pub(crate) struct Program {
    name: String,
    command: Command,
}

impl Program {
    /// One of the packed programs, such as `benches/tiles`.
    pub(crate) fn packed(settings: &Settings, name: &str) -> Result<Self> {
        let path = settings.programs.join(name);
        if !path.is_file() {
            let why = format!("is not in {}: build the programs with --pack", settings.programs.display());
            return Err(Error::program(name, why));
        }
        let mut command = match &settings.driver {
            None => Command::new(&path),
            Some(driver) => {
                let mut runner = Command::new(settings.root.join(".cargo/runner"));
                runner.arg(&path).env("TILEWISE_VULKAN", driver);
                runner
            }
        };
        if !loader_is_installed() {
            command.env("LD_LIBRARY_PATH", library_path(&settings.programs.join("lib")));
        }
        command.current_dir(&settings.root);
        Ok(Self { name: name.into(), command })
    }

    /// A Python script of the checkout.
    pub(crate) fn python(settings: &Settings, script: &str) -> Self {
        let mut command = Command::new("python3");
        command.arg(settings.root.join(script)).current_dir(&settings.root);
        Self { name: script.into(), command }
    }

    /// Adds arguments.
    pub(crate) fn args<A: AsRef<str>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        for argument in arguments {
            self.command.arg(argument.as_ref());
        }
        self
    }

    /// Sets an environment variable.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs it in this folder in place of the checkout, so that what it prints names files without their folder.
    pub(crate) fn within(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// Runs it until it ends or `limit` has passed since the section started: stdout to `out`, stderr to the log.
    pub(crate) fn run(mut self, out: File, log: &mut Log, limit: Duration) -> Result<()> {
        let arguments = self.command.get_args().filter_map(|argument| argument.to_str());
        let arguments: Vec<&str> = arguments.filter(|argument| !argument.ends_with(&self.name)).collect();
        log.say(format!("== {} {}", self.name, arguments.join(" ")).trim_end())?;
        let deadline = log.started() + limit;
        let late = |what| Error::TimeIsUp { program: self.name.clone(), what, seconds: limit.as_secs() };
        if Instant::now() >= deadline {
            return Err(late("not started"));
        }
        let spawned = self.command.stdin(Stdio::null()).stdout(out).stderr(log.file()?).spawn();
        let mut child =
            spawned.map_err(|error| Error::program(&self.name, format!("cannot start: {error}")))?;
        match wait(&mut child, deadline) {
            Ok(Some(status)) if status.success() => Ok(()),
            Ok(Some(status)) => Err(Error::program(&self.name, format!("failed: {status}"))),
            Ok(None) => Err(late("stopped")),
            Err(error) => Err(Error::program(&self.name, format!("cannot be waited for: {error}"))),
        }
    }
}

/// Whether `python3` can be started.
pub(crate) fn has_python() -> bool {
    let mut python = Command::new("python3");
    python.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    python.status().is_ok_and(|status| status.success())
}

/// Whether a Vulkan loader is installed. If `ldconfig` cannot be asked, the packed loader is used, which is harmless.
fn loader_is_installed() -> bool {
    // NOTE: ldconfig is not in every user's PATH.
    ["ldconfig", "/usr/sbin/ldconfig", "/sbin/ldconfig"].iter().any(|ldconfig| {
        Command::new(ldconfig)
            .arg("-p")
            .output()
            .is_ok_and(|list| String::from_utf8_lossy(&list.stdout).contains("libvulkan.so.1"))
    })
}

/// The library path with one more folder at its end.
fn library_path(folder: &Path) -> OsString {
    let mut path = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    if !path.is_empty() {
        path.push(":");
    }
    path.push(folder);
    path
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::section::Section;

    fn run(program: &str, arguments: &[&str], limit: Duration) -> Result<()> {
        let dir = std::env::temp_dir().join(format!("on-gpu-run-{}-{program}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a folder");
        let mut log = Log::begin(&dir, Section::Info).expect("a log");
        let out = File::create(dir.join("out")).expect("a file");
        let program = Program { name: program.into(), command: Command::new(program) };
        let result = program.args(arguments).run(out, &mut log, limit);
        std::fs::remove_dir_all(&dir).expect("it was there");
        result
    }

    #[test]
    fn a_program_is_stopped_when_the_time_is_up() {
        let stopped = run("sleep", &["60"], Duration::from_millis(100)).expect_err("it takes too long");
        assert_eq!(stopped.to_string(), "sleep was stopped: the section's time, 0 s, is up");
    }

    #[test]
    fn a_program_that_fails_is_an_error_and_one_that_ends_well_is_not() {
        let failed = run("false", &[], Duration::from_secs(60)).expect_err("it fails");
        assert!(failed.to_string().starts_with("false failed: exit status: 1"), "{failed}");
        run("true", &[], Duration::from_secs(60)).expect("it ends well");
    }

    #[test]
    fn nothing_is_started_when_no_time_is_left() {
        let late = run("true", &[], Duration::ZERO).expect_err("no time is left");
        assert_eq!(late.to_string(), "true was not started: the section's time, 0 s, is up");
    }
}
