//! The example `clifford_layer` as a user runs it: what it reports of layers of five algebras, and what it refuses. Any
//! device will do.

use serde_json::Value;
use support::example::run;

fn assert_report(report: &Value, launches: u64, passes: std::ops::Range<f64>) {
    let number = |name: &str| report[name].as_f64().unwrap_or_else(|| panic!("{name}: {report}"));
    assert_eq!(report["ok"], true, "{report}");
    assert!(number("bound_ratio") > 0.0 && number("bound_ratio") <= 1.0, "{report}");
    assert_eq!(report["launches"], launches, "{report}");
    assert!(passes.contains(&number("passes")), "{report}");
    assert!(number("seconds") > 0.0 && number("copy_gbps") > 0.0, "{report}");
    assert!((number("gbps") / number("copy_gbps") / number("share") - 1.0).abs() < 1e-6, "{report}");
    assert!(!report["plan"].as_str().unwrap_or_default().is_empty(), "{report}");
}

#[test]
fn layers_of_five_algebras_are_timed_and_checked() {
    let Some(gpu) = support::gpu() else { return };
    let size = ["--batch", "64", "--features", "16", "--json"];
    for (layer, more, launches, passes) in [
        ("2,0,0", &["--backward"][..], 2, 5.0..9.0),
        ("3,0,0", &["--dtype", "f16"], 1, 3.0..3.5),
        ("3,0,1", &["--no-norm"], 1, 3.0..3.5),
        ("1,3,0", &["--norm", "invariant"], 1, 3.0..3.5),
        // The gates, the product and its norm: small operands beside their weights.
        ("2,0,1", &["--fc"], 3, 5.0..50.0),
    ] {
        let args = [&["--layer", layer], more, &size].concat();
        let report = run("clifford_layer", &args, &[]).json();
        assert_eq!(report["device"].as_str(), Some(gpu.caps().adapter.as_str()));
        assert_report(&report, launches, passes);
    }
    let ended = run("clifford_layer", &["--batch", "3", "--features", "5", "--layer", "2,0,0"], &[]);
    let text = ended.stdout;
    // A workgroup has one row, whatever the device's subgroup size.
    let one_row =
        |lanes: u32| text.contains(&format!("clifford/rows {lanes} invocations, {lanes} for a row; "));
    assert!((0..11).any(|log| one_row(1 << log)) && text.contains("check      ok"), "{text}");
}

/// A norm divides what may have cancelled in a row of one feature by as little: some of 4,096 rows are far off 2e-6.
#[test]
fn rows_of_one_feature_are_held_to_the_bound_of_each_value() {
    let Some(_gpu) = support::gpu() else { return };
    let args = ["--layer", "3,0,0", "--batch", "4096", "--features", "1", "--backward", "--json"];
    assert_report(&run("clifford_layer", &args, &[]).json(), 2, 5.0..9.0);
}

#[test]
fn products_that_are_rounded_to_f16_are_held_to_its_tolerance() {
    let Some(_gpu) = support::gpu() else { return };
    let args = ["--layer", "2,0,0", "--fc", "--batch", "64", "--features", "16", "--json"];
    let report = run("clifford_layer", &args, &[("TILEWISE_PRECISION", "fast")]).json();
    // Gates, operands and weight in f16, the product, its norm.
    assert_report(&report, 6, 5.0..50.0);
    assert!(report["plan"].as_str().unwrap_or_default().contains("rounded to f16 first"), "{report}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let Some(_gpu) = support::gpu() else { return };
    for (args, why) in [
        (["--features", "0"], "--features: must be at least 1; got 0"),
        (["--batch", "0"], "--batch: must be at least 1; got 0"),
        (["--layer", "3,3,0"], "layers support at most 5 vectors, Cl(3,3,0) has 6"),
    ] {
        let ended = run("clifford_layer", &args, &[]);
        assert!(ended.refusal().contains(why), "{ended:?}");
    }
    for (args, why) in [
        (&["--layer", "3;0"][..], "invalid value '3;0'"),
        (&["--dtype", "f64"], "invalid value 'f64'"),
        (&["--no-norm", "--norm", "rms"], "cannot be used with"),
    ] {
        let ended = run("clifford_layer", args, &[]);
        assert_eq!(ended.code(), Some(2), "{ended:?}");
        assert!(ended.stderr.contains(why), "{ended:?}");
    }
}
