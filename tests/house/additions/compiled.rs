//! The additions as code: both are added to a copy of the repository, and the compiler checks the copy.

use super::{Change, FUNCTION, OPERATION};
use std::path::Path;
use std::process::Command;

/// In a full sweep only, because it compiles the library and what tests share.
#[test]
fn the_additions_compile() {
    if !support::is_full_sweep() {
        println!("skipped: only in a full sweep");
        return;
    }
    let (root, copy) = (support::root(), support::folder("additions"));
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(&root).output().expect("git");
    let listed = String::from_utf8(listed.stdout).expect("paths in UTF-8");
    for file in listed.split_terminator('\0').filter(|file| root.join(file).is_file()) {
        let to = copy.join(file);
        std::fs::create_dir_all(to.parent().expect("a folder")).unwrap();
        std::fs::copy(root.join(file), to).unwrap();
    }
    FUNCTION.iter().chain(OPERATION).for_each(|change| apply(&copy, change));
    let packages = ["tilewise", "tilewise-benches", "tilewise-examples", "tilewise-tests"];
    let mut check = Command::new(env!("CARGO"));
    check.args(["check", "--release", "--offline", "--quiet", "--target-dir"]).arg(root.join("target"));
    let checked = check
        .args(packages.map(|package| format!("-p={package}")))
        .current_dir(&copy)
        .output()
        .expect("cargo");
    std::fs::remove_dir_all(&copy).unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}

fn apply(copy: &Path, Change { path, before, text }: &Change) {
    let path = copy.join(path);
    let mut file = if before.is_empty() { String::new() } else { std::fs::read_to_string(&path).unwrap() };
    let at = file.find(before).unwrap_or_else(|| panic!("{} has no `{before}`", path.display()));
    file.insert_str(at, text);
    std::fs::write(path, file).unwrap();
}
