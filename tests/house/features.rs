//! What each set of Cargo features builds: the crates that README.md names for it, and few of them without any feature.

use std::collections::BTreeSet;
use std::process::Command;

/// Crates that the library without features builds at most, itself included.
const MAX_WITHOUT_FEATURES: usize = 75;

/// Where the counts hold: other systems need other crates.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The crates that a program with this library builds, the library included. Not counted: what only tests need.
fn crates(features: &[String]) -> BTreeSet<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(support::root());
    command.args(["tree", "--offline", "--locked", "--quiet", "-p", "tilewise", "-e", "normal,build"]);
    command.args(["--target", TARGET, "--prefix", "none", "--no-dedupe"]).args(features);
    let output = command.output().expect("cargo runs");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("names");
    text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
}

/// The rows of README.md's table of feature sets: cargo's options, and the number of crates.
fn rows() -> Vec<(Vec<String>, usize)> {
    let path = support::root().join("README.md");
    let text = std::fs::read_to_string(path).unwrap();
    let rows = text.lines().skip_while(|line| !line.starts_with("| options of cargo |")).skip(2);
    let table = rows.take_while(|line| line.starts_with('|'));
    table
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            // The row without options is that of the default features.
            let options = cells[0].strip_prefix('`').map_or("", |cell| cell.trim_end_matches('`'));
            let options = options.split_whitespace();
            (options.map(str::to_owned).collect(), cells[1].parse().expect("a number of crates"))
        })
        .collect()
}

#[test]
fn the_readme_counts_the_crates_of_each_set_of_features() {
    let rows = rows();
    assert!(rows.len() >= 5, "the table of feature sets is missing from README.md: {rows:?}");
    for (options, listed) in rows {
        let crates = crates(&options);
        assert_eq!(crates.len(), listed, "crates with `{}`: {crates:?}", options.join(" "));
    }
}

#[test]
fn the_library_without_features_builds_few_crates_and_no_solver() {
    let crates = crates(&["--no-default-features".into()]);
    let count = crates.len();
    assert!(count <= MAX_WITHOUT_FEATURES, "{count} crates; at most {MAX_WITHOUT_FEATURES}: {crates:?}");
    let solver = crates.iter().find(|name| name.starts_with("faer "));
    assert_eq!(solver, None, "feature `factorisations` is off");
}
