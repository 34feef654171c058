//! Generates the tables of shaders for the library (`src/kernel/library.rs`) from the files in this folder. To add a shader, add
//! its file. A file of WGSL with an entry point is a kernel; kernels include the others. Modules of SPIR-V are kernels, too.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=shaders");
    // Cargo runs build scripts in the package's folder.
    let mut names = Vec::new();
    list(Path::new("shaders"), "", "wgsl", &mut names)?;
    names.sort();
    let mut tables = [String::from("&["), String::from("&[")];
    for name in names {
        let is_include = !fs::read_to_string(format!("shaders/{name}.wgsl"))?.contains("@compute");
        // The path starts at the package's folder, because that may be elsewhere when the library is compiled.
        let text = format!("include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/shaders/{name}.wgsl\"))");
        tables[usize::from(is_include)] += &format!("({name:?}, {text}),\n");
    }
    let mut modules = Vec::new();
    list(Path::new("shaders/spirv"), "", "spv", &mut modules)?;
    modules.sort();
    let mut table = String::from("&[");
    for name in modules {
        let bytes =
            format!("include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/shaders/spirv/{name}.spv\"))");
        table += &format!("({name:?}, {bytes}),\n");
    }
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo has not set OUT_DIR"))?;
    for (text, file) in tables.into_iter().zip(["kernels.rs", "includes.rs"]) {
        fs::write(Path::new(&out).join(file), text + "]")?;
    }
    fs::write(Path::new(&out).join("modules.rs"), table + "]")
}

/// Adds the names of the files of one kind in a folder and its sub-folders: their paths without the extension, such as `gemm/tiled`.
fn list(folder: &Path, prefix: &str, kind: &str, names: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            list(&path, &format!("{prefix}{name}/"), kind, names)?;
        } else if path.extension().is_some_and(|extension| extension == kind) {
            names.push(format!("{prefix}{name}"));
        }
    }
    Ok(())
}
