//! Builds the release programs and collects them in a folder.

use crate::error::{Error, Result};
use bench::about;
use bench::file::FileError;
use serde::Deserialize;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Which programs are collected.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Programs {
    /// Those of all sections.
    All,
    /// Without the tests, which only the sweeps run: they take the longest to build.
    WithoutTests,
}

impl Programs {
    /// Arguments of cargo: this program and the library's. All in one build, so that all have the same dependencies.
    fn arguments(self) -> Vec<&'static str> {
        let mut arguments = vec!["--features", "tilewise-benches/threads", "--bench", ALL, "--bin", "on_gpu"];
        arguments.extend(PACKAGES.iter().flat_map(|name| ["-p", name]));
        arguments.extend(LONG_EXAMPLES.iter().flat_map(|name| ["--example", name]));
        if self == Self::All {
            arguments.push("--tests");
        }
        arguments
    }
}

/// The packages that are built where cargo is given none, and this one.
const PACKAGES: [&str; 5] =
    ["tilewise", "tilewise-benches", "tilewise-examples", "tilewise-tests", "tilewise-on-gpu"];
/// The bench that is all benches and the short examples, by the names in its source.
const ALL: &str = "programs";
const NAMES: &str = include_str!("../../programs.rs");
/// The examples that are programs of their own.
const LONG_EXAMPLES: [&str; 3] = ["benchmark", "embed", "frames"];

/// The names under which the program of all benches is called, such as `benches/ops`.
fn names() -> impl Iterator<Item = &'static str> {
    NAMES.lines().filter_map(|line| line.trim_start().strip_prefix("(\"")?.split('"').next())
}

/// A line that cargo prints for what it built.
#[derive(Deserialize)]
struct Artifact {
    target: Option<Target>,
    profile: Option<Profile>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
    src_path: PathBuf,
}

/// A program, and where it goes in the folder.
#[derive(Debug, PartialEq, Eq)]
struct Built {
    executable: PathBuf,
    to: PathBuf,
    source: PathBuf,
}

/// Builds the programs of the checkout and collects them, stripped, in `folder`.
pub(crate) fn pack(root: &Path, folder: &Path, programs: Programs) -> Result<()> {
    for part in ["tests", "benches", "examples", "lib"] {
        let part = folder.join(part);
        fs::create_dir_all(&part).map_err(FileError::of("create", &part))?;
    }
    let folder = fs::canonicalize(folder).map_err(FileError::of("find", folder))?;
    let mut bytes = 0;
    for Built { executable, to, source } in built(&build(root, &programs.arguments())?) {
        if to.starts_with("tests") && !wants_this_device(&source)? {
            continue;
        }
        bytes += place(&executable, &folder.join(to))?;
    }
    for name in names() {
        link(&folder.join(ALL), &folder.join(name))?;
    }
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir));
    // The loader of the fetched driver, for a machine that has a driver and no loader.
    let loader = target.join("vulkan/lib/libvulkan.so.1");
    if loader.is_file() {
        let to = folder.join("lib/libvulkan.so.1");
        bytes += fs::copy(&loader, &to).map_err(FileError::of("write", &to))?;
    }
    write(&folder.join("README.md"), &readme())?;
    if let Some(commit) = about::commit(root) {
        write(&folder.join("commit"), &format!("{commit}\n"))?;
    }
    eprintln!("on_gpu: {} MB in {}", bytes / 1_000_000, folder.display());
    Ok(())
}

/// Gives a program one more name: by a link to its name, so that the folder can be moved, or where there are none by a copy.
fn link(program: &Path, name: &Path) -> Result<()> {
    if name.symlink_metadata().is_ok() {
        fs::remove_file(name).map_err(FileError::of("replace", name))?;
    }
    #[cfg(unix)]
    let linked =
        std::os::unix::fs::symlink(Path::new("..").join(program.file_name().unwrap_or_default()), name);
    #[cfg(not(unix))]
    let linked = fs::copy(program, name).map(drop);
    Ok(linked.map_err(FileError::of("write", name))?)
}

fn write(path: &Path, text: &str) -> Result<()> {
    Ok(fs::write(path, text).map_err(FileError::of("write", path))?)
}

/// Has cargo build; returns what it printed.
fn build(root: &Path, arguments: &[&str]) -> Result<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--profile", "bench", "--message-format=json-render-diagnostics"])
        .args(arguments)
        .current_dir(root)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output();
    let output = output.map_err(|error| Error::program("cargo", format!("cannot start: {error}")))?;
    if !output.status.success() {
        return Err(Error::program("cargo build", format!("failed: {}", output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The programs among what cargo built.
fn built(messages: &str) -> Vec<Built> {
    let artifacts = messages.lines().filter_map(|line| serde_json::from_str::<Artifact>(line).ok());
    let program = |artifact: Artifact| {
        let (Target { name, kind, src_path }, executable) = (artifact.target?, artifact.executable?);
        let to = match kind.first()?.as_str() {
            "test" => Path::new("tests").join(name),
            "bench" if name == ALL => PathBuf::from(name),
            "bench" => Path::new("benches").join(name),
            "example" => Path::new("examples").join(name),
            // Not the tests of one.
            "bin" if !artifact.profile?.test => PathBuf::from(name),
            _ => return None,
        };
        Some(Built { executable, to, source: src_path })
    };
    artifacts.filter_map(program).collect()
}

/// Whether a test is to run on the GPU: not if its header says that it needs no device, or that any device will do.
fn wants_this_device(source: &Path) -> Result<bool> {
    let text = fs::read_to_string(source).map_err(FileError::of("read", source))?;
    Ok(!says_any_device(&text))
}

fn says_any_device(text: &str) -> bool {
    let header = text.lines().filter_map(|line| line.strip_prefix("//!"));
    header
        .map(str::trim_end)
        .any(|line| line.ends_with("No device.") || line.ends_with("Any device will do."))
}

/// Strips a program into its place, or copies it if there is no `strip`; returns its size in bytes.
fn place(program: &Path, to: &Path) -> Result<u64> {
    let strip = Command::new("strip").arg("-o").arg(to).arg(program).stderr(Stdio::null()).status();
    if !strip.is_ok_and(|status| status.success()) {
        fs::copy(program, to).map_err(FileError::of("write", to))?;
    }
    Ok(fs::metadata(to).map(|file| file.len()).map_err(FileError::of("read", to))?)
}

fn readme() -> String {
    let mut text = format!(
        "# Tilewise's programs for a machine with a GPU\n\n\
         Tests, benches and examples in release mode, for {} on {}",
        std::env::consts::OS,
        std::env::consts::ARCH,
    );
    let library = Command::new("getconf").arg("GNU_LIBC_VERSION").stderr(Stdio::null()).output().ok();
    if let Some(library) = library.filter(|library| library.status.success()) {
        let version = String::from_utf8_lossy(&library.stdout).trim().to_owned();
        let _ = write!(text, " with a C library not older than {version}");
    }
    text + ".\n`lib/` holds a Vulkan loader, which is used only if none is installed.\n\
            In a checkout of the commit that the file `commit` names:\n\n    \
            this/folder/on_gpu DIR [SECTION...]\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_separated_from_other_artifacts() {
        let messages = r#"
{"reason":"compiler-artifact","target":{"name":"tilewise","kind":["lib"],"src_path":"/c/src/lib.rs"},"executable":null}
{"reason":"compiler-artifact","target":{"name":"tiles","kind":["bench"],"src_path":"/c/benches/tiles.rs"},"executable":"/t/tiles-1"}
{"reason":"compiler-artifact","target":{"name":"gemm","kind":["test"],"src_path":"/c/tests/gemm/main.rs"},"executable":"/t/gemm-1"}
{"reason":"compiler-artifact","target":{"name":"on_gpu","kind":["bin"],"src_path":"/c/benches/on_gpu/src/main.rs"},"profile":{"test":false},"executable":"/t/on_gpu"}
{"reason":"compiler-artifact","target":{"name":"on_gpu","kind":["bin"],"src_path":"/c/benches/on_gpu/src/main.rs"},"profile":{"test":true},"executable":"/t/on_gpu-1"}
{"reason":"compiler-artifact","target":{"name":"programs","kind":["bench"],"src_path":"/c/benches/programs.rs"},"executable":"/t/programs-1"}
{"reason":"build-finished","success":true}"#;
        let places: Vec<_> = built(messages).into_iter().map(|program| program.to).collect();
        assert_eq!(places, ["benches/tiles", "tests/gemm", "on_gpu", "programs"].map(PathBuf::from));
    }

    #[test]
    fn tests_that_need_no_device_say_so_in_their_header() {
        assert!(says_any_device("//! Plans.\n//!\n//! No device.\n\nuse std::fmt;\n"));
        assert!(says_any_device("//! Recordings. Any device will do.\n"));
        assert!(!says_any_device("//! Products.\n\n// No device.\n"));
    }

    /// Every bench of the manifest has its name in the program of all benches.
    #[test]
    fn all_benches_are_in_one_program() {
        let manifest = include_str!("../../Cargo.toml");
        let benches =
            manifest.split("[[bench]]\nname = \"").skip(1).filter_map(|part| part.split('"').next());
        let benches: Vec<String> =
            benches.filter(|&name| name != ALL).map(|name| format!("benches/{name}")).collect();
        assert!(benches.len() > 10);
        let known: Vec<&str> = names().collect();
        for name in
            benches.iter().map(String::as_str).chain(["examples/info", "examples/gemm", "examples/tune"])
        {
            assert!(known.contains(&name), "{name} is not in benches/programs.rs");
        }
    }
}
