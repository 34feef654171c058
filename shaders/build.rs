//! Lists the shaders of this folder for the library (`src/kernel/library.rs`): to add one is to add its file.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=shaders");
    let tables = [list("shaders")?, list("shaders/common")?];
    let [kernels, fragments] = tables.map(|table| format!("&[{}]", table.concat()));
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo says no OUT_DIR"))?;
    fs::write(Path::new(&out).join("kernels.rs"), kernels)?;
    fs::write(Path::new(&out).join("fragments.rs"), fragments)
}

/// `("name", "text"),` for each shader of a folder, in the order of their names. The text is included from below the folder of
/// the package, wherever that lies when the library is compiled.
fn list(folder: &str) -> io::Result<Vec<String>> {
    let mut lines = Vec::new();
    // Cargo runs build scripts in the folder of the package.
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "wgsl") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            lines.push(format!(
                "({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{folder}/{name}.wgsl\"))),\n"
            ));
        }
    }
    lines.sort();
    Ok(lines)
}
