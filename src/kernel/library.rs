//! The library of shaders: the name and text of every file below `shaders/`.
//!
//! `shaders/build.rs` generates the tables from the folder, sorted by name. A file's name is its path below `shaders/` without
//! the extension, such as `gemm/tiled`.

/// The kernels. Each is a complete shader with one entry point.
pub const KERNELS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

/// The files that kernels include: shared functions and declarations, and the variants of slots.
pub const INCLUDES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/includes.rs"));

/// The modules of SPIR-V in `shaders/spirv/`, which need the feature `spirv`. A name has no extension, as `gemm_coop.f16`.
#[cfg(all(feature = "spirv", not(target_arch = "wasm32")))]
pub const MODULES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/modules.rs"));
/// No modules: the feature `spirv` is off, or this is for a browser, whose devices take none.
#[cfg(not(all(feature = "spirv", not(target_arch = "wasm32"))))]
pub const MODULES: &[(&str, &[u8])] = &[];

/// A set of shader files by name and text. Both tables are sorted by name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Library {
    pub(super) kernels: &'static [(&'static str, &'static str)],
    pub(super) includes: &'static [(&'static str, &'static str)],
}

/// The crate's shaders.
pub(super) const SHADERS: Library = Library { kernels: KERNELS, includes: INCLUDES };

/// A shader file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ShaderFile {
    /// The name, such as `gemm/tiled`.
    pub(super) name: &'static str,
    pub(super) text: &'static str,
}

impl ShaderFile {
    /// The file's path in the package.
    pub(super) fn path(self) -> String {
        path(self.name)
    }

    /// The file's folder below `shaders/`.
    pub(super) fn folder(self) -> &'static str {
        self.name.split_once('/').map_or("common", |(folder, _)| folder)
    }
}

/// The path in the package of a shader with this name, whether or not it exists.
pub(super) fn path(name: &str) -> String {
    format!("shaders/{name}.wgsl")
}

impl Library {
    /// The kernel with this name.
    ///
    /// # Errors
    /// A message if no kernel has the name.
    pub(super) fn kernel(&self, name: &str) -> Result<ShaderFile, String> {
        find(self.kernels, name).ok_or_else(|| format!("the kernel does not exist: no {}", path(name)))
    }

    /// The file that a directive means by `name` in a kernel of `folder`: from that folder, otherwise from `common/`.
    ///
    /// # Errors
    /// A message if neither folder has the file.
    pub(super) fn include(&self, folder: &str, name: &str) -> Result<ShaderFile, String> {
        let [own, common] = [format!("{folder}/{name}"), format!("common/{name}")];
        let found = find(self.includes, &own).or_else(|| find(self.includes, &common));
        found.ok_or_else(|| format!("neither {} nor {} exists", path(&own), path(&common)))
    }
}

fn find(table: &'static [(&str, &str)], name: &str) -> Option<ShaderFile> {
    let at = table.binary_search_by_key(&name, |(known, _)| known).ok()?;
    let (name, text) = table[at];
    Some(ShaderFile { name, text })
}
