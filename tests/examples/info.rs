//! The example `info` as a user runs it.

use serde_json::{Value, json};
use support::example::run;

/// Lavapipe on CPUs of Arm, and on those of x86 without AVX: it lists sizes of matrices and does not have the feature. Other drivers
/// do not know the variable.
#[test]
fn a_driver_that_lists_matrices_and_does_not_have_them_is_opened_without() {
    let Some(_) = support::gpu() else { return };
    let found = run("info", &["--json"], &[("LP_NATIVE_VECTOR_WIDTH", "128")]).json();
    assert_eq!(found["ok"], true, "{found}");
    let devices = found["devices"].as_array().expect("a list of devices");
    assert!(!devices.is_empty(), "{found}");
    for device in devices.iter().filter(|device| device["driver"].to_string().contains("llvmpipe")) {
        assert_eq!(device["subgroups"]["max"], 4, "{device}");
        assert_eq!(device["rows"], json!([]), "{device}");
    }
}

/// Lavapipe has rows of `VK_KHR_cooperative_matrix`, of which kernels use three, and of matrices of flexible size, of which they use two.
#[test]
fn rows_have_their_verdict_and_their_speed() {
    let Some(_) = support::gpu() else { return };
    let found = run("info", &["--json"], &[]).json();
    let devices = found["devices"].as_array().expect("a list of devices");
    let has_rows = |device: &&Value| device["rows"].as_array().is_some_and(|rows| !rows.is_empty());
    for device in
        devices.iter().filter(has_rows).filter(|device| device["driver"].to_string().contains("llvmpipe"))
    {
        let rows = device["rows"].as_array().expect("a list of rows");
        let of = |sizes: &str| rows.iter().filter(|row| row["sizes"] == sizes).count();
        assert_eq!([of("exact"), of("multiples")], [4, 4], "{device}");
        for row in rows {
            let is_timed = row["speed"].as_f64().is_some_and(|speed| speed > 0.0);
            let is_used = row["a"] != "u8" && (row["sizes"] == "exact" || row["c"] != "f16");
            assert_eq!(row["verdict"], if is_used { "verified" } else { "not tested" }, "{row}");
            assert!(if is_used { is_timed } else { row["speed"].is_null() }, "{row}");
        }
    }
}
