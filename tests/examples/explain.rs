//! The example `explain` as a user runs it: on devices that are not here, so that nothing is opened.

use serde_json::Value;
use support::example::run;
use tilewise::gemm::GemmKernel;
use tilewise::planning::fixtures;

/// A driver that does not exist: whatever opens a device fails.
const NO_DRIVER: [(&str, &str); 2] =
    [("TILEWISE_VULKAN", "system"), ("VK_DRIVER_FILES", "/nonexistent/x.json")];

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn candidates(report: &Value) -> &Vec<Value> {
    report["candidates"].as_array().expect("a list of candidates")
}

#[test]
fn explain_plans_for_every_device_that_is_not_here() {
    let listed = run("explain", &["--list", "--json"], &NO_DRIVER).json();
    let listed: Vec<&str> = listed["devices"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|device| device["name"].as_str())
        .collect();
    assert_eq!(listed, fixtures::ALL.map(|(name, _)| name));
    for (name, caps) in fixtures::ALL {
        let caps = caps();
        for dtype in ["f32", "f16"] {
            let report = run(
                "explain",
                &["--device", name, "--m", "512", "--n", "1024", "--k", "256", "--dtype", dtype, "--json"],
                &NO_DRIVER,
            )
            .json();
            assert_eq!([&report["fixture"], &report["device"]], [name, &caps.adapter], "{report}");
            assert_eq!([&report["m"], &report["n"], &report["k"]], [512, 1024, 256]);
            let candidates = candidates(&report);
            // The plan is the first of its candidates, unless a software device takes longer to compile that one.
            let seconds: Vec<f64> = candidates.iter().map(|one| number(&one["seconds"])).collect();
            assert!(seconds.len() > 3 && seconds.is_sorted(), "{name}: {seconds:?}");
            if caps.machine.compile_seconds.is_none() {
                assert_eq!(number(&report["seconds"]), seconds[0], "{name}");
                assert_eq!(report["kernel"], candidates[0]["kernel"], "{name}");
            }
            for one in candidates {
                let share = number(&one["inner_loop_share"]);
                assert!(share > 0.0 && share <= 1.0, "{name}: {one}");
            }
            let convolutions = report["convolutions"].as_array().expect("a list of convolutions");
            let matrices: Vec<bool> =
                convolutions.iter().map(|one| number(&one["on_matrix_units"]) == 1.0).collect();
            assert!(convolutions.iter().all(|one| number(&one["seconds"]) > 0.0), "{name}: {report}");
            // All but the depthwise one, as products: none of f32, which is strict.
            let has_units =
                dtype == "f16" && number(&report["roofline"]["peak_flops"]) == caps.machine.matrix_flops;
            assert_eq!(matrices, [has_units, has_units, has_units, false], "{name}: {report}");
            // One reason for each kernel that was passed over.
            let reasons = report["reasons"].as_array().expect("a list of reasons");
            assert_eq!(reasons.len(), GemmKernel::ALL.len() - 1, "{name}: {report}");
        }
    }
}

#[test]
fn explain_prints_the_text_of_a_kernel() {
    let sample = std::fs::read_to_string(support::root().join("tests/data/kernels/product.wgsl")).unwrap();
    let options = ["--device", "bare-webgpu", "--m", "64", "--n", "64", "--k", "64"];
    let printed = run("explain", &[&options[..], &["--text"]].concat(), &NO_DRIVER).stdout;
    assert!(printed.ends_with(&format!("\n\n{sample}")), "{printed}");
    let without = run("explain", &options, &NO_DRIVER).stdout;
    assert!(printed.starts_with(&without) && !without.contains("fn main("), "{without}");
}

#[test]
fn explain_does_the_arithmetic_of_the_roofline() {
    let report = run("explain", &["--device", "h200", "--dtype", "f16", "--json"], &NO_DRIVER).json();
    let roofline = &report["roofline"];
    let of = |name: &str| number(&roofline[name]);
    let (flops, bytes) = (2.0 * 4096f64.powi(3), 4096.0 * 4096.0 * (2.0 + 2.0 + 4.0));
    assert_eq!([of("flops"), of("bytes")], [flops, bytes]);
    assert_eq!([of("peak_flops"), of("memory_bytes")], [989.4e12, 4800e9]);
    assert_eq!([of("intensity"), of("ridge")], [flops / bytes, 989.4e12 / 4800e9]);
    assert_eq!(
        (roofline["bound"].as_str(), roofline["unit"].as_str()),
        (Some("arithmetic"), Some("matrices"))
    );
    assert_eq!(of("seconds"), flops / 989.4e12);
    let [seconds, of_peak] = [number(&report["seconds"]), number(&report["share_of_peak"])];
    assert!((of_peak * seconds * 989.4e12 / flops - 1.0).abs() < 1e-12 && of_peak < 1.0, "{report}");
    // A row times a matrix is bound by memory, and its roofline is that of the bytes.
    let row = ["--device", "h200", "--m", "1", "--n", "4096", "--k", "4096", "--json"];
    let report = run("explain", &row, &NO_DRIVER).json();
    assert_eq!([&report["roofline"]["bound"], &report["kernel"]], ["memory", "gemv"]);
    assert_eq!(number(&report["roofline"]["bytes"]), 4.0 * (4096.0 + 4096.0 * 4096.0 + 4096.0));
    assert!(number(&report["share_of_roofline"]) < 1.0, "{report}");
}

/// The same options as a product that runs: types, layouts and precisions, each with the kernel that they lead to.
#[test]
fn explain_takes_types_layouts_and_precisions() {
    for (options, dtypes, kernel) in [
        (&["--dtype", "i8"][..], ["i8", "i32"], "coop_khr"),
        (&["--dtype", "e4m3"], ["e4m3", "f32"], "coop_khr"),
        (&["--dtype", "e5m2", "--layout", "nt"], ["e5m2", "f32"], "coop_khr"),
        (&["--dtype", "bf16", "--layout", "nt"], ["bf16", "f32"], "coop_khr"),
        (&["--dtype", "f16", "--layout", "tn"], ["f16", "f32"], "coop"),
        (&["--layout", "tt"], ["f32", "f32"], "tiled"),
        (&["--precision", "fast"], ["f32", "f32"], "coop"),
    ] {
        let report = run("explain", &[&["--device", "rtx-4", "--json"], options].concat(), &NO_DRIVER).json();
        assert_eq!([&report["dtype"], &report["out_dtype"]], dtypes, "{options:?}: {report}");
        assert_eq!((report["fixture"].as_str(), report["kernel"].as_str()), (Some("rtx-4090"), Some(kernel)));
        // What is predicted keeps below the peak of the unit that computes.
        assert!(number(&report["share_of_peak"]) < 1.0, "{options:?}: {report}");
        let inner = &candidates(&report)[0]["inner_loop"];
        // No table has loops of 8 bits on matrices.
        if ["i8", "e4m3", "e5m2"].contains(&dtypes[0]) {
            assert!(inner.is_null(), "{inner}");
            assert_eq!(report["convolutions"], Value::Array(vec![]), "no convolution takes {}", dtypes[0]);
            continue;
        }
        assert_eq!(inner["target"], "nv176", "{options:?}: {inner}");
        assert!(number(&inner["multiply_adds"]) > 0.0, "{inner}");
    }
    // As text: everything on one page.
    let ended = run("explain", &["--device", "apple-m2", "--dtype", "f16"], &NO_DRIVER);
    assert_eq!((ended.code(), ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    ended.prints(["Apple M2 (fixture apple-m2)", "gemm/coop", "roofline", "candidates", "by a formula"]);
    ended.prints(["conv2d of 4 images of 56 x 56", "\n  3x3, 64 -> 64 channels ", " 100% ", "conv/direct "]);
    let ended = run("explain", &["--list"], &NO_DRIVER);
    assert!(ended.stdout.lines().count() == fixtures::ALL.len(), "{ended:?}");
}

#[test]
fn explain_refuses_bad_sizes_and_unknown_devices_in_one_sentence() {
    let all = fixtures::ALL.map(|(name, _)| name).join(", ");
    for (arguments, words) in [
        (&["--device", "gtx-9999"][..], &["--device gtx-9999", "no such device", all.as_str()][..]),
        (&["--device", "radv"], &["--device radv", "several", "radv-rdna4, radv-rdna3"]),
        (&["--device", ""], &["--device", "several", "h200"]),
        (&["--device", "h200", "--m", "0"], &["--m 0", "at least 1"]),
        (&["--k", "0"], &["--k 0", "at least 1"]),
        (
            &["--device", "h200", "--m", "4294967296", "--n", "4294967296"],
            &["must not overflow", "4294967296"],
        ),
        (&["--device", "h200", "--m", "2147483648", "--n", "1", "--k", "1"], &["2147483648"]),
        (&["--device", "h200", "--dtype", "i8", "--k", "131072"], &["131072", "131071"]),
    ] {
        run("explain", &[arguments, &["--json"]].concat(), &NO_DRIVER).refuses(words);
    }
    for (arguments, word) in [
        (["--precision", "exact"], "strict, split and fast"),
        (["--layout", "xy"], "possible values: nn, nt, tn, tt"),
        (["--dtype", "f64"], "possible values: f32, f16, bf16, i8, e4m3, e5m2]"),
        (["--m", "-1"], "-1"),
        (["--m", "99999999999999999999"], "99999999999999999999"),
    ] {
        let ended = run("explain", &arguments, &NO_DRIVER);
        assert_eq!((ended.code(), ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
        assert!(ended.stderr.contains(word), "{word}: {ended:?}");
    }
}

#[test]
fn explain_takes_the_device_of_this_machine() {
    let Some(gpu) = support::gpu() else { return };
    let report = run("explain", &["--m", "64", "--n", "64", "--k", "64", "--json"], &[]).json();
    assert_eq!((report["device"].as_str(), &report["fixture"]), (Some(&*gpu.caps().adapter), &Value::Null));
    run("explain", &["--json"], &NO_DRIVER).refuses(["install"]);
}
