//! The example `mlp` as a user runs it: what it recognises, what it refuses, and how it ends.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use support::example::{run, scratch};
use tilewise::io::write_npy_slice;

#[test]
fn mlp_recognises_held_out_digits_in_every_type() {
    let Some(gpu) = support::gpu() else { return };
    let report = run("mlp", &["--json"], &[]).json();
    assert_eq!([&report["device"], &report["driver"]], [&gpu.caps().adapter, &gpu.caps().driver]);
    // Of 1,797 digits every fourth.
    assert_eq!((&report["digits"], &report["ok"]), (&449.into(), &true.into()), "{report}");
    let runs = report["runs"].as_array().expect("a list of runs");
    assert_eq!(runs.iter().map(|run| &run["dtype"]).collect::<Vec<_>>(), ["f32", "f16", "bf16"]);
    for run in runs {
        let number = |name: &str| run[name].as_f64().unwrap_or_else(|| panic!("{name}: {run}"));
        assert_eq!(run["ok"], true, "{run}");
        assert!((0.95..=1.0).contains(&number("accuracy")), "{run}");
        assert!((number("right") / 449.0 - number("accuracy")).abs() < 1e-12, "{run}");
        // Of numbers that are no integers some are rounded, in every type.
        assert!(number("max_abs_err") > 0.0 && number("bound_ratio") <= 1.0, "{run}");
        for list in ["kernels", "plans"] {
            let layers = run[list].as_array().unwrap_or_else(|| panic!("{list}: {run}"));
            assert!(layers.len() == 2 && layers.iter().all(Value::is_string), "{list}: {run}");
        }
    }
    run("mlp", &[], &[]).passed().prints([
        gpu.caps().adapter.as_str(),
        "f32 ",
        "f16 ",
        "bf16 ",
        "of 449",
        "layer 2",
        "check      ok",
    ]);
}

/// A copy of the example's data, in which a test may write what it likes.
fn perceptron(name: &str) -> PathBuf {
    let folder = scratch(name);
    fs::create_dir_all(&folder).expect("the folder can be written to");
    let data = support::root().join("examples/data");
    for file in ["digits.csv.gz", "mlp_w1.npy", "mlp_b1.npy", "mlp_w2.npy", "mlp_b2.npy"] {
        fs::copy(data.join(file), folder.join(file)).expect("the example's data are there");
    }
    folder
}

#[test]
fn mlp_refuses_files_that_are_not_a_network() {
    let refuses = |folder: &Path, words: &[&str]| {
        run("mlp", &["--data", &folder.display().to_string(), "--json"], &[]).refuses(words);
    };
    refuses(Path::new("/nonexistent"), &["/nonexistent", "digits.csv.gz", "cannot be read"]);
    let folder = perceptron("not-a-network");
    fs::write(folder.join("digits.csv.gz"), "0,".repeat(64)).expect("it can be replaced");
    refuses(&folder, &["digits.csv.gz", "gzip"]);
    if support::gpu().is_some() {
        let folder = perceptron("not-a-network");
        write_npy_slice(folder.join("mlp_w1.npy"), [64, 63], &[0.5f32; 64 * 63]).expect("it can be replaced");
        refuses(&folder, &["64", "63"]);
        fs::write(folder.join("mlp_w1.npy"), "weights").expect("it can be replaced");
        refuses(&folder, &["mlp_w1.npy", "is not a .npy file"]);
        fs::remove_file(folder.join("mlp_w1.npy")).expect("it was written");
        refuses(&folder, &["mlp_w1.npy", "cannot be opened"]);
    }
    fs::remove_dir_all(folder).expect("it was written");
}

#[test]
fn mlp_fails_where_the_digits_are_not_recognised() {
    let Some(_) = support::gpu() else { return };
    let folder = perceptron("untrained");
    write_npy_slice(folder.join("mlp_w2.npy"), [10, 64], &[0.0f32; 640]).expect("it can be replaced");
    let name = folder.display().to_string();
    let ended = run("mlp", &["--data", &name, "--json"], &[]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    let report: Value = serde_json::from_str(&ended.stdout).expect("a JSON object all the same");
    assert_eq!(report["ok"], false, "{report}");
    for run in report["runs"].as_array().expect("a list of runs") {
        // Every digit is taken for the same one, and the device agrees with f64 on that.
        let number = |name: &str| run[name].as_f64().unwrap_or_else(|| panic!("{name}: {run}"));
        assert_eq!(run["ok"], false, "{run}");
        assert!(number("accuracy") < 0.2 && number("bound_ratio") <= 1.0, "{run}");
    }
    fs::remove_dir_all(folder).expect("it was written");
}
