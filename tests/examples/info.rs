//! The example `info` as a user runs it.

use serde_json::json;
use support::example::run;

/// Lavapipe on CPUs of Arm, and on those of x86 without AVX: it lists sizes of matrices and does not have the feature. Other drivers
/// do not know the variable.
#[test]
fn a_driver_that_lists_matrices_and_does_not_have_them_is_opened_without() {
    if support::gpu().is_none() {
        return;
    }
    let found = run("info", &["--json"], &[("LP_NATIVE_VECTOR_WIDTH", "128")]).json();
    assert_eq!(found["ok"], true, "{found}");
    let devices = found["devices"].as_array().expect("a list of devices");
    assert!(!devices.is_empty(), "{found}");
    for device in devices.iter().filter(|device| device["driver"].to_string().contains("llvmpipe")) {
        assert_eq!(device["subgroups"]["max"], 4, "{device}");
        assert_eq!(device["rows"], json!([]), "{device}");
    }
}
