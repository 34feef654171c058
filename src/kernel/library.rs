//! Every shader of the crate, by name and text, in the order of names: `shaders/build.rs` makes the tables from the folder.
//! A name is the path below `shaders/`, without the ending.

/// The kernels: each is a whole shader with one entry point.
pub const KERNELS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

/// What kernels are completed with: functions and declarations that several share, and the variants of slots.
pub const PARTS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/parts.rs"));

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
        format!("shaders/{}.wgsl", self.name)
    }

    /// The folder of `shaders/` that it lies in.
    pub(super) fn folder(self) -> &'static str {
        self.name.split_once('/').map_or("common", |(folder, _)| folder)
    }
}

/// The kernel of this name.
pub(super) fn kernel(name: &str) -> Option<File> {
    find(KERNELS, name)
}

/// The part that a file of this folder calls by this name: its neighbour, or one of `common/`.
pub(super) fn part(folder: &str, name: &str) -> Option<File> {
    find(PARTS, &format!("{folder}/{name}")).or_else(|| find(PARTS, &format!("common/{name}")))
}

fn find(table: &'static [(&str, &str)], name: &str) -> Option<File> {
    let at = table.binary_search_by_key(&name, |(known, _)| known).ok()?;
    let (name, text) = table[at];
    Some(File { name, text })
}
