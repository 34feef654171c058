//! The example `benchmark` as a user runs it: what it measures and writes, what it leaves out, and how an interrupted run
//! ends.

use crate::support;
use crate::support::example::{run, scratch, start};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tilewise::gpu::DeviceType;

/// Seconds until which a started run has measured something.
const PATIENCE: Duration = Duration::from_secs(300);

fn name(path: &Path) -> String {
    path.display().to_string()
}

fn read(path: &Path) -> Value {
    let text = fs::read_to_string(path).expect("the example wrote it");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Runs the example with a file of JSON, and returns what is in it.
fn measured(file: &str, arguments: &[&str]) -> Value {
    let path = scratch(file);
    let ended = run("benchmark", &[arguments, &["--json", &name(&path)]].concat(), &[]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let report = read(&path);
    fs::remove_file(path).expect("it was written");
    report
}

fn rows(report: &Value) -> &Vec<Value> {
    report["rows"].as_array().expect("a list of rows")
}

fn number(of: &Value, name: &str) -> f64 {
    of[name].as_f64().unwrap_or_else(|| panic!("{name}: {of}"))
}

/// The figures of a row follow from one another.
fn check_row(row: &Value, peaks: &Value, rounds: usize) {
    let times: Vec<f64> = serde_json::from_value(row["rounds"].clone()).expect("seconds of each round");
    assert!(times.len() == rounds && times.iter().all(|&seconds| seconds > 0.0), "{row}");
    let seconds = number(row, "seconds");
    let (least, most) =
        (times.iter().fold(f64::INFINITY, |a, &b| a.min(b)), times.iter().fold(0.0f64, |a, &b| a.max(b)));
    assert!(
        least <= seconds && seconds <= most && number(row, "interquartile_range") <= most - least,
        "{row}"
    );
    let flops = number(row, "matrix_flops") + number(row, "other_flops");
    let bytes = number(row, "bytes");
    assert!(bytes > 0.0 && number(row, "predicted_seconds") > 0.0, "{row}");
    for (name, want) in [
        ("gflops", flops / seconds * 1e-9),
        ("gbytes", bytes / seconds * 1e-9),
        ("over_predicted", seconds / number(row, "predicted_seconds")),
    ] {
        assert!((number(row, name) - want).abs() <= 1e-9 * want, "{name}: {row}");
    }
    let matrices = peaks["matrices"].as_f64().unwrap_or_else(|| number(peaks, "fma"));
    let arithmetic =
        number(row, "matrix_flops") / matrices + number(row, "other_flops") / number(peaks, "fma");
    let bound = arithmetic.max(bytes / number(peaks, "copy"));
    assert!((number(row, "of_roofline") - bound / seconds).abs() <= 1e-9 * bound / seconds, "{row}");
    assert_eq!((&row["check"], &row["ok"]), (&"full".into(), &true.into()), "{row}");
    let ratio = number(row, "bound_ratio");
    assert!((0.0..=1.0).contains(&ratio), "{row}");
}

#[test]
fn every_operation_is_measured_checked_saved_and_drawn() {
    let Some(gpu) = support::gpu() else { return };
    let files = ["run.json", "run.csv", "run.svg"].map(scratch);
    let [save, csv, svg] = files.each_ref().map(|path| name(path));
    let arguments =
        ["--sizes", "64", "--dtypes", "f32", "--rounds", "2", "--save", &save, "--csv", &csv, "--svg", &svg];
    let report = measured("report.json", &arguments);
    assert_eq!([&report["device"], &report["driver"]], [&gpu.caps().adapter, &gpu.caps().driver]);
    assert_eq!((&report["version"], &report["finished"]), (&env!("CARGO_PKG_VERSION").into(), &true.into()));
    assert_eq!((&report["left_out"], &report["ok"]), (&Value::Array(vec![]), &true.into()), "{report}");
    let peaks = &report["peaks"];
    assert!(number(peaks, "fma") > 0.0 && number(peaks, "copy") > 0.0, "{peaks}");
    assert_eq!(peaks["matrices"].is_number(), gpu.caps().has_tensor_cores(), "{peaks}");
    rows(&report).iter().for_each(|row| check_row(row, peaks, 2));
    let shapes: Vec<(&str, [u64; 3])> = rows(&report)
        .iter()
        .map(|row| (row["op"].as_str().unwrap_or(""), ["m", "n", "k"].map(|n| row[n].as_u64().unwrap_or(0))))
        .collect();
    let want = [
        ("gemm", [64, 64, 64]),
        ("gemv", [64, 1, 64]),
        ("sketch gaussian", [16, 64, 64]),
        ("sketch sjlt", [16, 64, 64]),
        ("sketch hadamard", [16, 64, 64]),
        ("clifford", [64, 64, 8]),
        ("attention", [64, 64, 64]),
    ];
    assert_eq!(shapes, want);
    assert_eq!(
        (number(&rows(&report)[0], "other_flops"), number(&rows(&report)[0], "bytes")),
        (524_288.0, 49_152.0)
    );
    // The share of the rows that the predictions were right for.
    for (name, factor) in [("predicted_within_2", 2.0), ("predicted_within_1_3", 1.3)] {
        let ratios = rows(&report).iter().map(|row| number(row, "over_predicted"));
        let within = ratios.filter(|ratio| (1.0 / factor..=factor).contains(ratio)).count();
        assert!((number(&report, name) - within as f64 / 7.0).abs() < 1e-12, "{name}: {report}");
    }
    check_files(&report, &files);
    files.into_iter().for_each(|file| fs::remove_file(file).expect("it was written"));
}

/// The saved run, the table and the picture hold what was measured.
fn check_files(report: &Value, [save, csv, svg]: &[PathBuf; 3]) {
    let saved = read(save);
    assert_eq!(saved["format"], "tilewise benchmark 1");
    for (saved, row) in rows(&saved).iter().zip(rows(report)) {
        assert_eq!(saved["rounds"], row["rounds"]);
    }
    let table = fs::read_to_string(csv).expect("it was written");
    let lines: Vec<&str> = table.lines().collect();
    assert!(
        lines.len() == 8 && lines[0].starts_with("op,m,n,k,dtype,precision,pinned,kernel,tile,seconds,"),
        "{table}"
    );
    let picture = fs::read_to_string(svg).expect("it was written");
    assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
    let device = report["device"].as_str().unwrap_or("");
    for text in [
        device,
        "measured peaks: ",
        " by fma of f32, ",
        " by a copy",
        "gemm f32, ",
        "attention f32, ",
        "16x64x64",
        "operations per byte",
    ] {
        assert!(picture.contains(text), "{text}: {picture}");
    }
    // A saved run is printed without a device, and drawn in the same way.
    let again = scratch("again.svg");
    let ended = run(
        "benchmark",
        &["--from", &name(save), "--svg", &name(&again)],
        &[("VK_DRIVER_FILES", "/nonexistent")],
    );
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(fs::read_to_string(&again).expect("it was written"), picture);
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert!(lines.iter().any(|line| line.starts_with("gemm ") && line.contains(" strict ")), "{ended:?}");
    for text in
        ["device     ", "peaks      ", "times      medians of 2 rounds", "predicted  ", "check      ok"]
    {
        assert!(lines.iter().any(|line| line.starts_with(text)), "{text}: {ended:?}");
    }
    fs::remove_file(again).expect("it was written");
}

#[test]
fn kernels_and_precisions_are_pinned_and_what_does_not_fit_is_listed() {
    let Some(gpu) = support::gpu() else { return };
    let of = |arguments: &[&str]| {
        let report = measured("pinned.json", &[arguments, &["--ops", "gemm", "--rounds", "1"]].concat());
        rows(&report).iter().for_each(|row| check_row(row, &report["peaks"], 1));
        report
    };
    let part = |row: &Value, name: &str| row[name].as_str().unwrap_or("-").to_owned();
    let sizes = ["--sizes", "33x20x40,33x20x40", "--dtypes", "f32,i8", "--precisions", "strict,split"];
    let report = of(&[&sizes[..], &["--kernels", "all"]].concat());
    let rows_of = |dtype: &str, precision: &str| -> Vec<[String; 2]> {
        let all = rows(&report)
            .iter()
            .filter(|row| part(row, "dtype") == dtype && part(row, "precision") == precision);
        all.map(|row| [part(row, "pinned"), part(row, "kernel")]).collect()
    };
    let strict = rows_of("f32", "strict");
    assert_eq!(strict[0][0], "-", "{strict:?}");
    let pinned: Vec<&str> = strict[1..].iter().map(|row| row[0].as_str()).collect();
    let scalar: &[&str] = match gpu.caps().device_type {
        DeviceType::Software => &["naive", "broadcast", "tiled"],
        _ => &["naive", "tiled"],
    };
    assert_eq!(pinned, scalar);
    assert!(strict[1..].iter().all(|[pinned, kernel]| pinned == kernel), "{strict:?}");
    assert!(!rows_of("f32", "split").is_empty());
    let integers: Vec<String> = rows_of("i8", "-").into_iter().map(|[pinned, _]| pinned).collect();
    assert!(
        ["-", "naive", "dot"].iter().all(|kernel| integers.iter().any(|pinned| pinned == kernel)),
        "{integers:?}"
    );
    // A kernel that the user names is listed if it does not fit; so is a size.
    let sizes = ["--sizes", "20,99999999999x1x1", "--dtypes", "f32", "--kernels", "naive,dot"];
    let report = of(&sizes);
    assert_eq!(rows(&report).len(), 1, "{report}");
    let left: Vec<[String; 2]> = report["left_out"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|left| [part(left, "case"), part(left, "why")])
        .collect();
    let has =
        |case: &str, why: &str| left.iter().any(|left| left[0].starts_with(case) && left[1].contains(why));
    assert!(has("gemm 20x20x20 f32 strict dot", "operands of i8"), "{left:?}");
    assert!(has("gemm 99999999999x1x1 f32 strict naive", "A has 399999999996 bytes"), "{left:?}");
}

#[test]
fn sizes_that_no_device_holds_are_refused_before_anything_is_allocated() {
    if support::gpu().is_none() {
        return;
    }
    let begin = Instant::now();
    for (size, words) in [
        ("99999999999x1x1", ["gemm 99999999999x1x1", "A has 399999999996 bytes"]),
        ("4294967296x4294967296x4294967296", ["gemm 4294967296x", "overflow"]),
        ("18446744073709551615", ["gemm 18446744073709551615x", "overflow"]),
    ] {
        let ended = run("benchmark", &["--ops", "gemm,gemv,sketch,clifford,attention", "--sizes", size], &[]);
        let refusal = ended.refusal();
        assert!(
            words.iter().all(|word| refusal.contains(word)) && refusal.contains("other cases"),
            "{refusal}"
        );
    }
    // A matrix of these sizes would take minutes to draw.
    assert!(begin.elapsed() < PATIENCE);
    let ended = run("benchmark", &["--ops", "clifford", "--sizes", "8x8x7"], &[]);
    assert!(ended.refusal().contains("k is the number of blades: 4, 8, 16 or 32; got 7"), "{ended:?}");
    let ended = run("benchmark", &["--ops", "sketch", "--dtypes", "i8", "--sizes", "8"], &[]);
    assert!(ended.refusal().contains("f32, f16 and bf16"), "{ended:?}");
    let ended = run("benchmark", &["--sizes", "8", "--save", "/nonexistent/run.json"], &[]);
    assert!(ended.refusal().contains("/nonexistent/run.json: cannot be written"), "{ended:?}");
}

#[test]
fn an_interrupted_run_leaves_what_it_measured() {
    let Some(gpu) = support::gpu() else { return };
    let [save, csv] = ["killed.json", "killed.csv"].map(scratch);
    let arguments = ["--ops", "clifford,attention", "--sizes", "64", "--dtypes", "f32", "--rounds", "1000"];
    let mut child =
        start("benchmark", &[&arguments[..], &["--save", &name(&save), "--csv", &name(&csv)]].concat());
    let begin = Instant::now();
    let has_rows = || save.exists() && !rows(&read(&save)).is_empty();
    while !has_rows() {
        assert!(
            begin.elapsed() < PATIENCE && child.try_wait().expect("it is a child").is_none(),
            "no row was saved"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let saved = read(&save);
    assert_eq!((&saved["finished"], &saved["device"]), (&false.into(), &gpu.caps().adapter.clone().into()));
    let row = &rows(&saved)[0];
    assert!(
        row["op"] == "clifford" && row["rounds"].as_array().is_some_and(|rounds| !rounds.is_empty()),
        "{row}"
    );
    let table = fs::read_to_string(&csv).expect("it was written");
    assert!(table.lines().count() >= 2, "{table}");
    let ended = run("benchmark", &["--from", &name(&save), "--compare", &name(&save)], &[]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(
        ended.stdout.contains("clifford") && ended.stdout.contains("that run was interrupted"),
        "{ended:?}"
    );
    [save, csv].into_iter().for_each(|file| fs::remove_file(file).expect("it was written"));
}

#[test]
fn unknown_options_are_refused() {
    for (arguments, word) in [
        (&["--ops", "gemm,magic"][..], "possible values: gemm, gemv, sketch, clifford, attention"),
        (&["--sizes", "0"], "must be N or MxNxK"),
        (&["--sizes", "4x5"], "must be N or MxNxK"),
        (&["--sizes", "18446744073709551616"], "must be N or MxNxK"),
        (&["--dtypes", "f64"], "possible values: f32, f16, bf16, i8"),
        (&["--precisions", "loose"], "loose"),
        (&["--kernels", "magic"], "possible values: auto, all, naive, gemv, broadcast, tiled, dot, coop"),
        (&["--rounds", "0"], "0"),
        (&["--fail-on-regression"], "--compare"),
        (&["--from", "run.json", "--sizes", "64"], "cannot be used with"),
    ] {
        let ended = run("benchmark", arguments, &[]);
        assert_eq!((ended.code(), ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
        assert!(ended.stderr.contains(word), "{word}: {ended:?}");
    }
}
