//! Lists the shaders of this folder for the library (`src/kernel/library.rs`): to add one is to add its file.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=shaders");
    let package = env::var_os("CARGO_MANIFEST_DIR")
        .ok_or_else(|| io::Error::other("cargo says no CARGO_MANIFEST_DIR"))?;
    let folder = Path::new(&package).join("shaders");
    let tables = [list(&folder)?, list(&folder.join("common"))?];
    let [kernels, fragments] = tables.map(|table| format!("&[{}]", table.concat()));
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo says no OUT_DIR"))?;
    fs::write(Path::new(&out).join("kernels.rs"), kernels)?;
    fs::write(Path::new(&out).join("fragments.rs"), fragments)
}

/// `("name", include_str!("path of the file")),` for each shader of a folder, in the order of their names.
fn list(folder: &Path) -> io::Result<Vec<String>> {
    let mut lines = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "wgsl") {
            let name = path.file_stem().unwrap_or_default();
            lines.push(format!("({name:?}, include_str!({path:?})),\n"));
        }
    }
    lines.sort();
    Ok(lines)
}
