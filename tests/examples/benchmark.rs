//! The example `benchmark` as a user runs it: what it measures and writes, and what it leaves out or refuses.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use support::example::{run, scratch};
use tilewise::Gpu;
use tilewise::gpu::DeviceType;

/// What refusals take at most.
const PATIENCE: Duration = Duration::from_secs(300);

pub(crate) fn name(path: &Path) -> String {
    path.display().to_string()
}

pub(crate) fn read(path: &Path) -> Value {
    let text = fs::read_to_string(path).expect("the example wrote it");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Runs the example with a file of JSON, and returns what is in it.
fn measured(file: &str, arguments: &[&str]) -> Value {
    let path = scratch(file);
    let _ended = run("benchmark", &[arguments, &["--json", &name(&path)]].concat(), &[]).passed();
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
    let flops = &row["flops"];
    let [f32, f16, integer, matrix] = ["f32", "f16", "integer", "matrix"].map(|unit| number(flops, unit));
    let op = row["op"].as_str().unwrap_or("");
    let real = f32 + f16 + matrix;
    let operations = if op == "gemm" || op == "gemv" {
        // By the definition of a product, however a kernel computes it.
        let [m, n, k] = ["m", "n", "k"].map(|extent| number(row, extent));
        // i8 is computed on matrices too.
        let is_i8 = row["dtype"] == "i8";
        assert_eq!(integer > 0.0 || is_i8 && matrix > 0.0, is_i8, "{row}");
        assert!(row["precision"] == "split" || real + integer == 2.0 * m * n * k, "{row}");
        2.0 * m * n * k
    } else if real > 0.0 {
        real
    } else {
        integer
    };
    let bytes = number(row, "bytes");
    assert!(bytes > 0.0 && number(row, "predicted_seconds") > 0.0, "{row}");
    for (name, want) in [
        ("gflops", operations / seconds * 1e-9),
        ("gbytes", bytes / seconds * 1e-9),
        ("over_predicted", seconds / number(row, "predicted_seconds")),
    ] {
        assert!((number(row, name) - want).abs() <= 1e-9 * want, "{name}: {row}");
    }
    // Each operation at the measured peak of the unit that computes it.
    let peak = |name: &str| peaks[name].as_f64().unwrap_or_else(|| number(peaks, "f32"));
    let units = [("f32", f32), ("f16", f16), ("i8", integer), ("matrices", matrix)];
    let arithmetic: f64 = units.iter().map(|(name, flops)| flops / peak(name)).sum();
    let (memory, least) = (bytes / number(peaks, "copy"), arithmetic.max(bytes / number(peaks, "copy")));
    assert!((number(row, "of_roofline") - least / seconds).abs() <= 1e-9 * least / seconds, "{row}");
    let limit = row["peak"].as_str().unwrap_or("");
    match row["limit"].as_str() {
        Some("memory") => assert!(limit == "copy" && memory >= arithmetic, "{row}"),
        _ => {
            let of = |(name, flops): &(&str, f64)| flops / peak(name);
            let most = units.iter().max_by(|a, b| of(a).total_cmp(&of(b))).map_or("", |(name, _)| name);
            assert!(limit == most && memory < arithmetic, "{row}");
        }
    }
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
    assert!(["copy", "f32", "i8"].iter().all(|name| number(peaks, name) > 0.0), "{peaks}");
    assert_eq!(peaks["f16"].is_number(), gpu.caps().f16, "{peaks}");
    assert_eq!(peaks["matrices"].is_number(), gpu.caps().has_tensor_cores(), "{peaks}");
    check_turns(&report, &gpu);
    let of_gemm = &rows(&report)[0]["turns"];
    assert_eq!([number(of_gemm, "sets"), number(of_gemm, "set_bytes")], [256.0, 32_768.0]);
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
        ("conv", [16, 64, 64]),
    ];
    assert_eq!(shapes, want);
    assert_eq!(number(&rows(&report)[0], "bytes"), 49_152.0);
    // The share of the rows that the predictions were right for. None is tuned.
    let predictions = &report["predictions"];
    assert_eq!((&predictions["tuned"], number(&predictions["untuned"], "rows")), (&Value::Null, 8.0));
    for (name, factor) in [("within_2", 2.0), ("within_1_3", 1.3)] {
        let ratios = rows(&report).iter().map(|row| number(row, "over_predicted"));
        let within = ratios.filter(|ratio| (1.0 / factor..=factor).contains(ratio)).count();
        let share = number(&predictions["untuned"], name);
        assert!((share - within as f64 / 8.0).abs() < 1e-12, "{name}: {report}");
    }
    check_files(&report, &files);
    files.into_iter().for_each(|file| fs::remove_file(file).expect("it was written"));
}

/// Sets of operands take turns, so that the last cache does not hold them, or the row says that it does.
fn check_turns(report: &Value, gpu: &Gpu) {
    let cache = gpu.caps().machine.cache_size as f64;
    assert_eq!(number(report, "cache_bytes"), cache);
    for row in rows(report) {
        let turns = &row["turns"];
        let [sets, bytes] = ["sets", "set_bytes"].map(|name| number(turns, name));
        assert!((2.0..=256.0).contains(&sets), "{row}");
        assert_eq!(turns["in_cache"], Value::Bool(sets * bytes <= cache), "{row}");
        // Only sets that are many already fit.
        assert!(turns["in_cache"] == false || sets == 256.0, "{row}");
    }
}

/// The saved run, the table and the picture hold what was measured.
fn check_files(report: &Value, [save, csv, svg]: &[PathBuf; 3]) {
    let saved = read(save);
    assert_eq!(saved["format"], "tilewise benchmark 2");
    for (saved, row) in rows(&saved).iter().zip(rows(report)) {
        assert_eq!(saved["rounds"], row["rounds"]);
    }
    let table = fs::read_to_string(csv).expect("it was written");
    let lines: Vec<&str> = table.lines().collect();
    assert!(
        lines.len() == 9 && lines[0].starts_with("op,m,n,k,dtype,precision,pinned,kernel,tile,seconds,"),
        "{table}"
    );
    let picture = fs::read_to_string(svg).expect("it was written");
    assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
    let device = report["device"].as_str().unwrap_or("");
    for text in [
        device,
        "measured peaks: copy ",
        ", fma of f32 ",
        ", packed i8 ",
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
    )
    .passed();
    assert_eq!(fs::read_to_string(&again).expect("it was written"), picture);
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert!(lines.iter().any(|line| line.starts_with("gemm ") && line.contains(" strict ")), "{ended:?}");
    for text in [
        "device     ",
        "peaks      ",
        "predicted  from assumed rates",
        "times      medians of 2 rounds",
        "predicted  not tuned: ",
        "check      ok",
    ] {
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
    let sizes =
        ["--sizes", "33x20x40,33x20x40", "--dtypes", "f32,i8,e4m3,e5m2", "--precisions", "strict,split"];
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
    for dtype in ["e4m3", "e5m2"] {
        let fractions: Vec<String> = rows_of(dtype, "-").into_iter().map(|[pinned, _]| pinned).collect();
        assert!(
            ["-", "naive", "tiled"].iter().all(|kernel| fractions.iter().any(|pinned| pinned == kernel)),
            "{fractions:?}"
        );
    }
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
    assert!(has("gemm 20 f32 strict dot", "operands of i8"), "{left:?}");
    assert!(has("gemm 99999999999x1x1 f32 strict naive", "A has 399999999996 bytes"), "{left:?}");
}

#[test]
fn sizes_that_no_device_holds_are_refused_before_anything_is_allocated() {
    let Some(_) = support::gpu() else { return };
    let begin = Instant::now();
    for (size, words) in [
        ("99999999999x1x1", ["gemm 99999999999x1x1", "A has 399999999996 bytes"]),
        ("4294967296x4294967296x4294967296", ["gemm 4294967296 f32", "overflow"]),
        ("18446744073709551615", ["gemm 18446744073709551615 f32", "overflow"]),
    ] {
        let ended =
            run("benchmark", &["--ops", "gemm,gemv,sketch,clifford,attention,conv", "--sizes", size], &[]);
        let refusal = ended.refusal();
        assert!(
            words.iter().all(|word| refusal.contains(word)) && refusal.contains("other cases"),
            "{refusal}"
        );
    }
    // A matrix of these sizes would take minutes to draw.
    assert!(begin.elapsed() < PATIENCE);
    run("benchmark", &["--ops", "clifford", "--sizes", "8x8x7"], &[])
        .refuses(["k is the number of blades: 4, 8, 16 or 32; got 7"]);
    for dtype in ["i8", "e4m3"] {
        run("benchmark", &["--ops", "sketch", "--dtypes", dtype, "--sizes", "8"], &[])
            .refuses(["f32, f16 and bf16"]);
    }
    // What takes longer to find than a look at the sizes.
    for (arguments, words) in [
        (&["--ops", "attention", "--sizes", "16x16x1024"][..], "head dim"),
        (&["--ops", "gemm", "--sizes", "16", "--dtypes", "f32", "--kernels", "dot"], "operands of i8"),
        (&["--ops", "gemv", "--sizes", "64x64x64"], "gemv has one column: n is 1; got 64"),
    ] {
        let ended = run("benchmark", arguments, &[]);
        let refusal = ended.refusal();
        assert!(refusal.contains(words) && refusal.contains("does not fit"), "{words}: {refusal}");
    }
}

#[test]
fn unknown_options_are_refused() {
    for (arguments, word) in [
        (&["--ops", "gemm,magic"][..], "possible values: gemm, gemv, sketch, clifford, attention, conv"),
        (&["--sizes", "0"], "is not a size such as 512 or 64x4096x1024"),
        (&["--sizes", "4x5"], "is not a size such as 512 or 64x4096x1024"),
        (&["--sizes", "18446744073709551616"], "is not a size such as 512 or 64x4096x1024"),
        (&["--dtypes", "f64"], "possible values: f32, f16, bf16, i8, e4m3, e5m2"),
        (&["--precisions", "loose"], "loose"),
        (&["--kernels", "magic"], "possible values: auto, all, naive, gemv, broadcast, tiled, dot, coop"),
        (&["--rounds", "0"], "0"),
        (&["--fail-on-regression"], "--compare"),
        (&["--from", "run.json", "--sizes", "64"], "cannot be used with"),
        (&["--from", "run.json", "--kernels", "tiled"], "cannot be used with"),
        (&["--from", "run.json", "--precisions", "fast"], "cannot be used with"),
    ] {
        let ended = run("benchmark", arguments, &[]);
        assert_eq!((ended.code(), ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
        assert!(ended.stderr.contains(word), "{word}: {ended:?}");
    }
    // Options that no operation or type of the run has, on no device.
    for (arguments, words) in [
        (&["--ops", "attention,sketch", "--kernels", "tiled"][..], ["--kernels: ", "--ops names neither"]),
        (&["--ops", "clifford", "--precisions", "fast"], ["--precisions: ", "--ops names neither"]),
        (&["--dtypes", "f16,i8", "--precisions", "split"], ["--precisions: ", "--dtypes leaves f32 out"]),
    ] {
        run("benchmark", arguments, &[("VK_DRIVER_FILES", "/nonexistent")]).refuses(words);
    }
}
