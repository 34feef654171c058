//! Every shader of the crate, by name and text, in the order of names: `shaders/build.rs` makes the tables from the folder.
//! A name is the path below `shaders/`, without the ending.

/// The kernels: each is a whole shader with one entry point.
pub const KERNELS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

/// What kernels are completed with: functions and declarations that several share, and the variants of slots.
pub const PARTS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/parts.rs"));

/// Shaders by name and text: both tables are in the order of names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Library {
    pub(super) kernels: &'static [(&'static str, &'static str)],
    pub(super) parts: &'static [(&'static str, &'static str)],
}

/// The shaders of the crate.
pub(super) const SHADERS: Library = Library { kernels: KERNELS, parts: PARTS };

/// A shader's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct File {
    /// As `gemm/tiled`.
    pub(super) name: &'static str,
    pub(super) text: &'static str,
}

impl File {
    /// Where it lies in the package.
    pub(super) fn path(self) -> String {
        path(self.name)
    }

    /// The folder of `shaders/` that it lies in.
    pub(super) fn folder(self) -> &'static str {
        self.name.split_once('/').map_or("common", |(folder, _)| folder)
    }
}

/// Where the shader of this name lies, or would lie, in the package.
pub(super) fn path(name: &str) -> String {
    format!("shaders/{name}.wgsl")
}

impl Library {
    /// The kernel of this name.
    ///
    /// # Errors
    /// There is none, in words.
    pub(super) fn kernel(&self, name: &str) -> Result<File, String> {
        find(self.kernels, name).ok_or_else(|| format!("there is no such kernel: no {}", path(name)))
    }

    /// The part that a file of this folder calls by this name: its neighbour, or one of `common/`.
    ///
    /// # Errors
    /// There is none, in words.
    pub(super) fn part(&self, folder: &str, name: &str) -> Result<File, String> {
        let [beside, shared] = [format!("{folder}/{name}"), format!("common/{name}")];
        let found = find(self.parts, &beside).or_else(|| find(self.parts, &shared));
        found.ok_or_else(|| format!("there is neither {} nor {}", path(&beside), path(&shared)))
    }
}

fn find(table: &'static [(&str, &str)], name: &str) -> Option<File> {
    let at = table.binary_search_by_key(&name, |(known, _)| known).ok()?;
    let (name, text) = table[at];
    Some(File { name, text })
}
