//! The examples as a user runs them, and as cargo would.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// How an example ended.
#[derive(Debug)]
pub struct Ended {
    status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

/// Runs an example as cargo would, with these variables on top.
pub fn run(example: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Ended {
    let program = program(example);
    let build = "the examples must be built: cargo test --release builds them, as does cargo build --release --examples";
    assert!(program.is_file(), "{} is missing; {build}", program.display());
    let output = command(program)
        .args(arguments)
        .envs(variables.iter().copied())
        .output()
        .expect("the example starts");
    let text = |bytes| String::from_utf8(bytes).expect("the example prints UTF-8");
    Ended { status: output.status, stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// This very test program again.
pub fn this() -> Command {
    // NOTE: under the runner the executable is ld.so; the first argument is the test in any case.
    command(PathBuf::from(std::env::args_os().next().expect("a program has a name")))
}

/// A program as cargo would run it, with the driver that this one has.
fn command(program: PathBuf) -> Command {
    let mut command = if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        let mut runner = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join(".cargo/runner"));
        runner.arg(program);
        runner
    } else {
        Command::new(program)
    };
    // NOTE: where the runner has fetched a driver, this very test runs under the fetched ld.so, and what the runner
    // set for it would look like a driver of the user's own to the next runner.
    if std::env::current_exe()
        .is_ok_and(|exe| exe.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ld-")))
    {
        command.env_remove("VK_DRIVER_FILES").env_remove("VK_LAYER_PATH");
    }
    command
}

/// An example beside this test: target/release/examples/NAME for target/release/deps/THIS.
fn program(example: &str) -> PathBuf {
    // NOTE: under the runner the executable is ld.so; the first argument is the test in any case.
    let this = PathBuf::from(std::env::args_os().next().expect("a program has a name"));
    let folder = this.ancestors().nth(2).expect("the test lies in a folder of cargo's");
    folder.join("examples").join(format!("{example}{}", std::env::consts::EXE_SUFFIX))
}

impl Ended {
    /// None where a signal ended it.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// The one JSON object that is all of stdout.
    pub fn json(&self) -> Value {
        assert_eq!(self.code(), Some(0), "{self:?}");
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The one sentence of an example that gives up.
    pub fn refusal(&self) -> &str {
        assert_eq!(self.code(), Some(1), "{self:?}");
        assert_eq!(self.stdout, "", "nothing but stderr tells of an error");
        let lines: Vec<&str> = self.stderr.lines().filter(|line| !line.starts_with("tilewise: ")).collect();
        let [line] = lines[..] else { panic!("not one line: {self:?}") };
        line.strip_prefix("error: ").unwrap_or_else(|| panic!("not an error: {self:?}"))
    }
}

/// A file of its own for each test, in cargo's folder for such.
pub fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("examples-{}-{name}", std::process::id()))
}
