//! The example `equivariant` as a user runs it: what it learns, what it draws, what it refuses, and how it ends.

use serde_json::Value;
use std::fs;
use support::example::{run, scratch};

const NETWORKS: [&str; 3] = ["equivariant", "perceptron", "perceptron_turned"];

fn number(report: &Value, path: &[&str]) -> f64 {
    let found = path.iter().fold(report, |value, name| &value[name]);
    found.as_f64().unwrap_or_else(|| panic!("{path:?}: {report}"))
}

/// What holds of every report, however few the steps were.
fn assert_report(report: &Value) {
    for network in NETWORKS {
        for path in [&["loss", network, "first"][..], &["loss", network, "last"], &["test_error", network]] {
            assert!(number(report, path) > 0.0, "{path:?}: {report}");
        }
        assert!(number(report, &["error_unturned", network]) > 0.0, "{report}");
    }
    let [own, plain, turned] = NETWORKS.map(|network| number(report, &["parameters", network]));
    assert_eq!(plain, turned, "the same perceptron");
    assert!((own / plain - 1.0).abs() < 0.1, "as many parameters: {report}");
    let [own, plain, turned] = NETWORKS.map(|network| number(report, &["test_error", network]));
    assert!((number(report, &["ratio"]) / (own / plain.min(turned)) - 1.0).abs() < 1e-9, "{report}");
    // Of all poses it knows as much as of one.
    let unturned = number(report, &["error_unturned", "equivariant"]);
    assert!((own / unturned - 1.0).abs() < 1e-3, "{report}");
    let bound_ratio = number(report, &["equivariance", "bound_ratio"]);
    assert!(bound_ratio > 0.0 && bound_ratio <= 1.0, "{report}");
    assert!(number(report, &["seconds"]) > 0.0, "{report}");
}

#[test]
fn the_equivariant_network_learns_all_poses_from_one() {
    let Some(gpu) = support::gpu() else { return };
    let svg = scratch("losses.svg");
    let report = run("equivariant", &["--svg", &svg.display().to_string(), "--json"], &[]).json();
    assert_report(&report);
    assert_eq!(report["ok"], true, "{report}");
    assert_eq!(report["device"].as_str(), Some(gpu.caps().adapter.as_str()));
    assert_eq!([&report["steps"], &report["hidden"], &report["samples"]], [300, 8, 512]);
    assert!(number(&report, &["test_error", "equivariant"]) <= 0.05, "{report}");
    assert!(number(&report, &["ratio"]) <= 0.1, "{report}");
    // The plain one learns as well, but for what is turned.
    assert!(number(&report, &["error_unturned", "perceptron"]) < 0.2, "{report}");
    assert!(number(&report, &["test_error", "perceptron_turned"]) < 0.7, "{report}");
    let picture = fs::read_to_string(&svg).expect("the picture was written");
    assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
    // Lines of the axes are thinner than curves.
    let curves = picture.matches("stroke-width=\"2\" points=").count();
    assert_eq!(curves, 3, "a curve for each network");
    for name in ["perceptron, one pose", "perceptron, all poses", "equivariant, one pose"] {
        assert!(picture.contains(name), "{name}: {picture}");
    }
    assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
    fs::remove_file(svg).expect("it was written");
}

#[test]
fn what_has_not_learnt_is_told_and_fails() {
    let Some(_) = support::gpu() else { return };
    let few = ["--steps", "2", "--hidden", "3", "--samples", "5", "--seed", "7"];
    let reports = [0, 1].map(|_| {
        let ended = run("equivariant", &[&few[..], &["--json"]].concat(), &[]);
        assert_eq!(ended.code(), Some(1), "{ended:?}");
        serde_json::from_str::<Value>(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
    });
    assert_report(&reports[0]);
    assert_eq!(reports[0]["ok"], false, "{}", reports[0]);
    assert_eq!(reports[0]["parameters"]["equivariant"], 4 * 4 * 3 + 2 * (4 * 3 * 3 + 3 + 20 * 3) + 4 * 3);
    // The same seed, the same bits.
    assert_eq!(reports[0]["test_error"], reports[1]["test_error"]);
    let ended = run("equivariant", &few, &[]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    ended.prints(["5 tetrahedra", "2 steps", "equivariant, one pose", "check      FAILED"]);
}

#[test]
fn what_is_no_training_is_refused_in_one_sentence() {
    let Some(_) = support::gpu() else { return };
    for (arguments, words) in [
        (["--steps", "0"], &["--steps", "at least 1", "got 0"][..]),
        (["--hidden", "0"], &["--hidden", "got 0"]),
        (["--hidden", "1000"], &["--hidden", "256", "got 1000"]),
        (["--samples", "0"], &["--samples", "got 0"]),
        (["--svg", "/nonexistent/x.svg"], &["/nonexistent/x.svg", "cannot be written"]),
    ] {
        run("equivariant", &[&arguments[..], &["--json"]].concat(), &[]).refuses(words);
    }
    for arguments in [&["--steps", "many"][..], &["--poses", "3"]] {
        let ended = run("equivariant", arguments, &[]);
        assert_eq!((ended.code(), ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
        assert!(ended.stderr.contains(arguments[0]), "{ended:?}");
    }
}
