//! The commands of README.md name programs that cargo finds without `-p`, and builds.

use std::process::Command;

/// The commands of cargo in README.md, without what follows `--` or `#`.
fn commands() -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(support::root().join("README.md")).unwrap();
    let lines = text.lines().filter(|line| line.starts_with("cargo run ") || line.starts_with("cargo test "));
    let words =
        lines.map(|line| line.split_whitespace().skip(1).take_while(|word| !["--", "#"].contains(word)));
    words.map(|words| words.map(str::to_owned).collect()).collect()
}

#[test]
fn cargo_builds_what_each_command_of_the_readme_runs() {
    let commands = commands();
    let of = |word: &str| commands.iter().filter(|command| command[0] == word).count();
    assert!(of("run") >= 18 && of("test") == 1, "{commands:?}");
    for command in &commands {
        let mut arguments: Vec<&str> = command[1..].iter().map(String::as_str).collect();
        match arguments.iter().position(|word| *word == "-p") {
            // CI does both: they take minutes where all else has been built.
            _ if support::is_short_sweep() && (command[0] == "test" || arguments.contains(&"-p")) => continue,
            // Beside what tests need, so that its dependencies are not built with other features.
            Some(at) => {
                let program = arguments[at + 1];
                arguments.extend(["--bin", program, "-p", "tilewise", "--example", "info"]);
                arguments.extend(
                    ["tilewise-benches", "tilewise-examples", "tilewise-tests"]
                        .iter()
                        .flat_map(|name| ["-p", name]),
                );
            }
            None => (),
        }
        let build = if command[0] == "run" { &["build"][..] } else { &["test", "--no-run"] };
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        let cargo = cargo.args(build).args(&arguments).args(["--offline", "--locked", "--quiet"]);
        let ended = cargo.current_dir(support::root()).output().expect("cargo starts");
        assert!(ended.status.success(), "{command:?}: {}", String::from_utf8_lossy(&ended.stderr));
    }
}

/// Features of dependencies are united over all packages that cargo may build, whichever of them a command asks for.
#[test]
fn the_first_command_builds_no_thread_pool() {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let tree = ["tree", "-e", "features", "--offline", "--locked", "--prefix", "none"];
    let ended = cargo.args(tree).current_dir(support::root()).output().expect("cargo starts");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let text = String::from_utf8(ended.stdout).expect("names");
    assert!(text.lines().any(|line| line.starts_with("faer feature \"linalg\"")), "{text}");
    let pools: Vec<&str> = text.lines().filter(|line| line.contains("rayon")).collect();
    assert!(pools.is_empty(), "{pools:?}");
}
