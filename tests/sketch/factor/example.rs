//! The example `rsvd` as a user runs it: what it finds in real weights and in files, what it refuses, and how it ends.

use serde_json::Value;
use std::fs;
use support::example::{run, scratch};
use tilewise::io::{Npy, NpyData, write_npy_slice};

/// What every report promises.
fn assert_report(report: &Value) {
    let number = |name: &str| report[name].as_f64().unwrap_or_else(|| panic!("{name}: {report}"));
    assert_eq!(report["ok"], true, "{report}");
    let least = number("optimal_rel_residual");
    assert!((0.999_999 * least..=1.05 * least + 1e-6).contains(&number("rel_residual")), "{report}");
    assert!(number("orthogonality") <= number("rank") * 2f64.powi(-20), "{report}");
    assert!(number("seconds") > 0.0, "{report}");
}

#[test]
fn real_weights_are_within_five_per_cent_of_the_best_and_drawn() {
    let Some(gpu) = support::gpu() else { return };
    let [svg, prefix] = ["weights.svg", "weights"].map(scratch);
    let [svg_name, prefix_name] = [&svg, &prefix].map(|path| path.display().to_string());
    let arguments = ["--rank", "40", "--seed", "3", "--svg", &svg_name, "--out", &prefix_name, "--json"];
    let report = run("rsvd", &arguments, &[]).json();
    assert_report(&report);
    assert_eq!(
        (&report["rank"], report["device"].as_str()),
        (&Value::from(40), Some(gpu.caps().adapter.as_str()))
    );
    assert_eq!(report["shape"], Value::from([1536, 384]));

    let picture = fs::read_to_string(&svg).expect("the picture was written");
    assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
    assert_eq!(picture.matches("<circle").count(), 40);
    // Lines of the axes are thinner than curves.
    let curve = "stroke-width=\"2\" points=\"";
    let line = picture.split(curve).nth(1).and_then(|rest| rest.split('"').next()).expect("a line");
    assert_eq!(line.split_whitespace().count(), 384, "all exact values");

    let factor = |part: &str| {
        let path = format!("{prefix_name}_{part}.npy");
        let read = Npy::read(&path).expect("the factor was written");
        fs::remove_file(path).expect("it was written");
        let NpyData::F32(values) = read.data() else { panic!("{part} in another type") };
        (read.shape().to_vec(), values.clone())
    };
    let [(u, _), (s, values), (v, _)] = ["u", "s", "v"].map(factor);
    assert_eq!([u, s, v], [vec![1536, 40], vec![40], vec![384, 40]]);
    for (i, value) in values.iter().enumerate() {
        let told = report["singular_values"][i].as_f64().expect("a number");
        assert!((f64::from(*value) - told).abs() <= 1e-6 * told, "{i}: {value}, {told}");
    }
    fs::remove_file(svg).expect("it was written");
}

#[test]
fn files_are_factorised_to_a_tolerance() {
    let Some(_) = support::gpu() else { return };
    // Of rank 2.
    let file = scratch("rank2.npy");
    let values: Vec<f32> =
        (0..30u8).flat_map(|i| (0..20u8).map(move |j| f32::from(i) + f32::from(j))).collect();
    write_npy_slice(&file, [30, 20], &values).expect("the folder can be written to");
    let name = file.display().to_string();
    let report = run("rsvd", &["--matrix", &name, "--tolerance", "1e-4", "--json"], &[]).json();
    assert_report(&report);
    assert_eq!(report["rank"], 2, "{report}");
    run("rsvd", &["--matrix", &name, "--rank", "3"], &[]).passed().prints([
        "rank2.npy, 30 x 20",
        "rank       3",
        "found     exact",
        "check      ok",
    ]);
    fs::remove_file(file).expect("it was written");
}

#[test]
fn what_is_no_matrix_is_refused_in_one_sentence() {
    let Some(_) = support::gpu() else { return };
    let [nan, line] = ["nan.npy", "line.npy"].map(scratch);
    let mut values = [1.0f32; 12];
    values[7] = f32::NAN;
    write_npy_slice(&nan, [3, 4], &values).expect("the folder can be written to");
    write_npy_slice(&line, [12], &[1.0f32; 12]).expect("the folder can be written to");
    let [nan_name, line_name] = [&nan, &line].map(|path| path.display().to_string());
    let of_the_repository = |path| support::root().join(path).display().to_string();
    let [f64s, weights] = ["tests/data/gemm/product_f32.npy", "README.md"].map(of_the_repository);
    let none = "/nonexistent/w.safetensors";
    for (arguments, words) in [
        (&["--matrix", &nan_name, "--rank", "2"][..], &["NaN", "[1, 3]"][..]),
        (&["--matrix", &line_name], &["rows and columns", "[12]"]),
        (&["--matrix", &f64s], &["product_f32.npy", "holds f64"]),
        (&["--rank", "385"], &["[1536, 384]", "385"]),
        (&["--tolerance", "0"], &["tolerance"]),
        (&["--tolerance=-1"], &["tolerance"]),
        (&["--tensor", "layer"], &["`layer`", "output.dense.weight"]),
        (&["--tensor", "output.dense.bias"], &["rows and columns", "[384]"]),
        (&["--weights", &weights], &["README.md", "not a .safetensors file"]),
        (&["--weights", none], &[none, "cannot be opened"]),
        (&["--rank", "2", "--svg", "/nonexistent/x.svg"], &["/nonexistent/x.svg", "cannot be written"]),
    ] {
        run("rsvd", &[arguments, &["--json"]].concat(), &[]).refuses(words);
    }
    let ended = run("rsvd", &["--matrix", &nan_name, "--weights", &weights], &[]);
    assert!(ended.code() == Some(2) && ended.stderr.contains("cannot be used with"), "{ended:?}");
    for path in [nan, line] {
        fs::remove_file(path).expect("it was written");
    }
}
