//! Folders that tests read and write.

use std::path::PathBuf;

/// The repository's folder: the one that `TILEWISE_ROOT` names, or else that from which the test was built.
pub fn root() -> PathBuf {
    let built_from = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    std::env::var_os("TILEWISE_ROOT").map_or_else(built_from, PathBuf::from)
}

/// The file of two weights of a sentence encoder.
pub fn weights() -> PathBuf {
    root().join("examples/data/minilm_layer2_ffn.safetensors")
}

/// The path of a folder for one test, which does not exist yet.
pub fn folder(name: &str) -> PathBuf {
    let folder = temporary().join(format!("{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// Cargo's folder for the files of tests, `target/tmp`, if this test is `target/release/deps/THIS`.
pub(crate) fn temporary() -> PathBuf {
    // NOTE: under the runner the executable is ld.so, but the first argument is always the test.
    let this = std::env::args_os().next().expect("a program has a name");
    let this = std::path::absolute(this).expect("there is a current folder");
    let folder = this.ancestors().nth(3).expect("the test lies in a folder of cargo's").join("tmp");
    std::fs::create_dir_all(&folder).expect("it can be written");
    folder
}
