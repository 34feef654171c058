//! The GPUs to compile for. None of them need be present: Mesa's drivers run over a shim in place of the operating system's
//! driver.

use std::path::{Path, PathBuf};
use std::process::Command;
use tilewise::Caps;
use tilewise::gpu::{CoopRow, FlexibleLimits, RowSizes};
use tilewise::planning::fixtures;

/// A GPU to compile for.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The GPU's name in Mesa and in `.cargo/runner`.
    pub name: &'static str,
    /// The fixture whose plans are compiled.
    pub fixture: &'static str,
    /// Whether the driver and the shim that `.cargo/fetch-vulkan` downloads support the GPU. Others need a newer Mesa, or a shim
    /// that Debian does not package, in the folder that `TILEWISE_SHIMS` names.
    pub is_fetched: bool,
}

const fn fetched(name: &'static str, fixture: &'static str) -> Target {
    Target { name, fixture, is_fetched: true }
}

const fn by_hand(name: &'static str, fixture: &'static str) -> Target {
    Target { name, fixture, is_fetched: false }
}

/// The environment variable with a folder of drivers and shims to use instead of the downloaded ones.
const SHIMS: &str = "TILEWISE_SHIMS";

/// The option of RADV that makes it list `VK_NV_cooperative_matrix2`, as an environment variable.
const MATRIX2: &str = "radv_cooperative_matrix2_nv";

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
    /// The target with this name.
    ///
    /// # Errors
    /// A message that lists the targets if none has the name.
    pub fn named(name: &str) -> Result<Self, String> {
        let names = || TARGETS.map(|target| target.name).join(", ");
        let found = TARGETS.into_iter().find(|target| target.name == name);
        found.ok_or_else(|| format!("there is no target {name:?}; the targets are {}", names()))
    }

    /// The capabilities of the target's fixture, with what Mesa 26 has. It lists no matrices of bf16, of floats of 8 bits or of flexible
    /// size for NVIDIA's GPUs, and refuses a module that uses them. For AMD's GPUs it lists those of flexible size if it is asked to
    /// ([`MATRIX2`]), as multiples of its other rows.
    ///
    /// # Panics
    /// If the library has no such fixture.
    #[must_use]
    pub fn caps(&self) -> Caps {
        let found = fixtures::ALL.into_iter().find(|(name, _)| *name == self.fixture);
        let mut caps = found.expect("a fixture of the library").1();
        caps.extensions.bfloat16 &= !self.name.starts_with("nv");
        caps.extensions.float8 &= !self.name.starts_with("nv");
        caps.rows.retain(|row| row.sizes == RowSizes::Exact);
        caps.extensions.flexible = self.is_of_amd();
        if self.is_of_amd() {
            let sizes = RowSizes::Multiples { invocations: 0 };
            caps.rows.extend(caps.rows.clone().into_iter().map(|row| CoopRow { sizes, ..row }));
            caps.flexible_limits =
                Some(FlexibleLimits { dimension: 1024, workgroup_invocations: 0, reserved_bytes: 0 });
        }
        caps
    }

    /// Whether the driver is RADV.
    fn is_of_amd(&self) -> bool {
        self.fixture.starts_with("radv")
    }

    /// Adds the remedy to a message about a missing device, if the downloaded driver does not support the target.
    pub(crate) fn explained(&self, why: String) -> String {
        if self.is_fetched || why.contains(SHIMS) || std::env::var_os(SHIMS).is_some() {
            return why;
        }
        format!(
            "{why}: the downloaded driver does not support {}; set {SHIMS} to a folder with a driver that does",
            self.name
        )
    }

    /// A command that runs this program again under the target's driver.
    ///
    /// # Errors
    /// A message if the program's own file cannot be found.
    pub fn under_its_driver(&self) -> Result<Command, String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let program = this_program()?;
        let mut command = Command::new(root.join(".cargo/runner"));
        command.arg(program).env("TILEWISE_VULKAN", self.name).env("MESA_SHADER_CACHE_DISABLE", "1");
        command.env(MATRIX2, "true");
        Ok(command)
    }
}

/// The file of this program.
///
/// NOTE: the runner starts programs through its own loader, so the system reports the loader as the running program.
fn this_program() -> Result<PathBuf, String> {
    let called = std::env::args_os().next().map(PathBuf::from).filter(|path| path.components().count() > 1);
    let path = called.map_or_else(std::env::current_exe, |path| path.canonicalize());
    path.map_err(|error| format!("cannot find this program's own file: {error}"))
}
