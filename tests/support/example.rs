//! Runs the examples as a user would with cargo.

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

/// The outcome of an example.
#[derive(Debug)]
pub struct Ended {
    status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

/// Runs an example as cargo would, with additional environment variables.
pub fn run(example: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Ended {
    let output = command(built(example))
        .args(arguments)
        .envs(variables.iter().copied())
        .output()
        .expect("the example starts");
    let text = |bytes| String::from_utf8(bytes).expect("the example prints UTF-8");
    Ended { status: output.status, stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Starts an example, whose output is thrown away.
pub fn start(example: &str, arguments: &[&str]) -> Child {
    let mut command = command(built(example));
    let command = command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the example starts")
}

/// A command that runs this test program again.
pub fn this() -> Command {
    // NOTE: under the runner the executable is ld.so, but the first argument is always the test.
    command(PathBuf::from(std::env::args_os().next().expect("a program has a name")))
}

/// A command that runs a program as cargo would, with this program's driver.
fn command(program: PathBuf) -> Command {
    let mut command = if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        let mut runner = Command::new(crate::root().join(".cargo/runner"));
        runner.arg(program);
        runner
    } else {
        Command::new(program)
    };
    // NOTE: if the runner has downloaded a driver, this test runs under the downloaded ld.so. The variables that the runner set
    // must go, because the next runner would take them for the user's own driver.
    if std::env::current_exe()
        .is_ok_and(|exe| exe.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ld-")))
    {
        command.env_remove("VK_DRIVER_FILES").env_remove("VK_LAYER_PATH");
    }
    command
}

/// The path of an example that is there.
fn built(example: &str) -> PathBuf {
    let program = program(example);
    let build = "the examples must be built: cargo test --release builds them, as does cargo build --release --examples";
    assert!(program.is_file(), "{} is missing; {build}", program.display());
    program
}

/// The path of an example: target/release/examples/NAME if this test is target/release/deps/THIS.
fn program(example: &str) -> PathBuf {
    // NOTE: under the runner the executable is ld.so, but the first argument is always the test.
    let this = PathBuf::from(std::env::args_os().next().expect("a program has a name"));
    let folder = this.ancestors().nth(2).expect("the test lies in a folder of cargo's");
    folder.join("examples").join(format!("{example}{}", std::env::consts::EXE_SUFFIX))
}

impl Ended {
    /// The exit status. None if a signal ended the example.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// The example's output, which must be one JSON object.
    pub fn json(&self) -> Value {
        assert_eq!(self.code(), Some(0), "{self:?}");
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Asserts that the example succeeded.
    #[track_caller]
    #[must_use]
    pub fn passed(self) -> Self {
        assert_eq!(self.code(), Some(0), "{self:?}");
        self
    }

    /// Asserts that the example printed each of these texts.
    #[track_caller]
    pub fn prints<'a>(&self, texts: impl AsRef<[&'a str]>) {
        texts
            .as_ref()
            .iter()
            .for_each(|text| assert!(self.stdout.contains(text), "no {text:?} in: {self:?}"));
    }

    /// Asserts that the example refused with an [error message](Self::refusal) that contains each of these words.
    #[track_caller]
    pub fn refuses<'a>(&self, words: impl AsRef<[&'a str]>) {
        let refusal = self.refusal();
        words.as_ref().iter().for_each(|word| assert!(refusal.contains(word), "no {word:?} in: {refusal}"));
    }

    /// The example's error message, which must be its only output and one line.
    pub fn refusal(&self) -> &str {
        assert_eq!(self.code(), Some(1), "{self:?}");
        assert_eq!(self.stdout, "", "errors are only written to stderr");
        let lines: Vec<&str> = self.stderr.lines().filter(|line| !line.starts_with("tilewise: ")).collect();
        let [line] = lines[..] else { panic!("not one line: {self:?}") };
        line.strip_prefix("error: ").unwrap_or_else(|| panic!("not an error: {self:?}"))
    }
}

/// A file for one test, in cargo's temporary folder.
pub fn scratch(name: &str) -> PathBuf {
    crate::folders::temporary().join(format!("examples-{}-{name}", std::process::id()))
}
