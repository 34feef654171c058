//! The GPUs that are compiled for, none of which need be here: Mesa's driver of each, over a shim in the kernel's place.

use std::path::{Path, PathBuf};
use std::process::Command;
use tilewise::Caps;
use tilewise::planning::fixtures;

/// A GPU: how `.cargo/runner` calls it, and whose plans it gets.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, as Mesa has it.
    pub name: &'static str,
    /// The fixture whose plans are compiled.
    pub fixture: &'static str,
    /// Whether the driver and the shim that `.cargo/fetch-vulkan` brings know it. Others need a newer Mesa, or a shim that
    /// Debian does not package: the folder that `TILEWISE_SHIMS` names has to have them.
    pub is_fetched: bool,
}

const fn fetched(name: &'static str, fixture: &'static str) -> Target {
    Target { name, fixture, is_fetched: true }
}

const fn by_hand(name: &'static str, fixture: &'static str) -> Target {
    Target { name, fixture, is_fetched: false }
}

/// The variable that names a folder with drivers and shims, in place of what is fetched.
const SHIMS: &str = "TILEWISE_SHIMS";

/// Every target.
pub const TARGETS: [Target; 6] = [
    fetched("navi31", "radv-rdna3"),
    fetched("gfx1201", "radv-rdna4"),
    fetched("nv176", "rtx-4090"),
    by_hand("nv192", "rtx-4090"),
    by_hand("bmg", "intel-xe2"),
    by_hand("dg2", "intel-xe2"),
];

impl Target {
    /// The target of this name.
    ///
    /// # Errors
    /// There is none: a line that lists them.
    pub fn named(name: &str) -> Result<Self, String> {
        let names = || TARGETS.map(|target| target.name).join(", ");
        let found = TARGETS.into_iter().find(|target| target.name == name);
        found.ok_or_else(|| format!("no target is called {name:?}: there are {}", names()))
    }

    /// What the device of its fixture can do.
    ///
    /// # Panics
    /// The fixture is not among the library's.
    #[must_use]
    pub fn caps(&self) -> Caps {
        let found = fixtures::ALL.into_iter().find(|(name, _)| *name == self.fixture);
        found.expect("a fixture of the library").1()
    }

    /// Why there is no device, with what to do about it where its driver is not among those that are fetched.
    pub(crate) fn explained(&self, why: String) -> String {
        if self.is_fetched || why.contains(SHIMS) || std::env::var_os(SHIMS).is_some() {
            return why;
        }
        format!(
            "{why}: the fetched driver does not know {}, {SHIMS} has to name a folder with one that does",
            self.name
        )
    }

    /// A command that runs this program again, with the target's driver under it.
    ///
    /// # Errors
    /// The program cannot tell where it is.
    pub fn under_its_driver(&self) -> Result<Command, String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let program = this_program()?;
        let mut command = Command::new(root.join(".cargo/runner"));
        command.arg(program).env("TILEWISE_VULKAN", self.name).env("MESA_SHADER_CACHE_DISABLE", "1");
        Ok(command)
    }
}

/// Where this program lies.
///
/// The runner starts programs under a loader of its own, which is what the system takes for the program.
fn this_program() -> Result<PathBuf, String> {
    let called = std::env::args_os().next().map(PathBuf::from).filter(|path| path.components().count() > 1);
    let path = called.map_or_else(std::env::current_exe, |path| path.canonicalize());
    path.map_err(|error| format!("cannot find this program's own file: {error}"))
}
