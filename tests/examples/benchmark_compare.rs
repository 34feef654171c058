//! The example `benchmark` compares saved runs, and draws them: no device is needed.

use serde_json::{Value, json};
use std::fs;
use support::example::{Ended, run, scratch};

/// The seconds of the rounds of a row: a median, and an interquartile range of 1% of it. Both halves have the same median.
fn rounds(seconds: f64) -> Vec<f64> {
    spread(seconds, 0.01)
}

/// The same with an interquartile range of this share.
fn spread(seconds: f64, range: f64) -> Vec<f64> {
    [-2.0, 2.0, 0.0, -1.0, 1.0].map(|quartile| (1.0 + quartile * range / 2.0) * seconds).to_vec()
}

fn row(m: usize, rounds: &[f64]) -> Value {
    json!({
        "op": "gemm", "m": m, "n": 64, "k": 64, "dtype": "f32", "precision": "strict", "pinned": null,
        "choice": "predicted", "kernel": "tiled", "tile": "32x64x8", "together": 4, "clock": "gpu", "rounds": rounds,
        "predicted_seconds": 1e-3,
        "flops": { "f32": 2.0 * 64.0 * 64.0 * m as f64, "f16": 0.0, "integer": 0.0, "matrix": 0.0 },
        "bytes": 4 * (64 * 64 + 128 * m), "turns": { "sets": 64, "set_bytes": 1_000_000, "in_cache": false }, "check": "full", "max_abs_err": 1e-7, "bound_ratio": 0.1, "ok": true,
    })
}

/// A saved run with a row of each of these numbers of rows and rounds.
fn saved(rows: &[(usize, Vec<f64>)]) -> Value {
    json!({
        "format": "tilewise benchmark 2", "version": env!("CARGO_PKG_VERSION"), "date": "2026-11-26T12:00:00Z",
        "command": "benchmark", "device": "Device One", "backend": "vulkan", "driver": "driver 1.2",
        "peaks": { "copy": 1e10, "f32": 5e10, "f16": 2e10, "i8": 4e10, "matrices": null },
        "cache_bytes": 32 << 20, "rates_measured": false, "finished": true,
        "rows": rows.iter().map(|(m, rounds)| row(*m, rounds)).collect::<Vec<_>>(), "left_out": [],
    })
}

/// Compares a run with a saved one, given as the text of its file.
fn compared(name: &str, now: &Value, was: &str, options: &[&str]) -> Ended {
    let paths = [format!("{name}-now.json"), format!("{name}-was.json")].map(|name| scratch(&name));
    fs::write(&paths[0], now.to_string()).expect("the folder can be written to");
    fs::write(&paths[1], was).expect("the folder can be written to");
    let [now, was] = paths.each_ref().map(|path| path.display().to_string());
    let ended = run("benchmark", &[&["--from", &now, "--compare", &was], options].concat(), &[]);
    paths.into_iter().for_each(|path| fs::remove_file(path).expect("it was written"));
    ended
}

/// The lines that report slower rows.
fn levels(ended: &Ended) -> Vec<&str> {
    let is_level =
        |line: &&str| ["notice ", "warning ", "alert "].iter().any(|level| line.starts_with(level));
    ended.stdout.lines().filter(is_level).collect()
}

#[test]
fn a_slowdown_of_ten_per_cent_is_caught_and_one_of_three_is_not() {
    let now = saved(&[(64, rounds(1e-3))]);
    for (slowdown, level, code) in [
        (1.03, None, 0),
        (1.049, None, 0),
        (1.06, Some("notice"), 0),
        (1.1, Some("warning"), 1),
        (1.24, Some("warning"), 1),
        (1.25, Some("alert"), 1),
        (2.0, Some("alert"), 1),
        (0.5, None, 0),
    ] {
        let was = saved(&[(64, rounds(1e-3 / slowdown))]).to_string();
        let ended = compared("slowdown", &now, &was, &["--fail-on-regression"]);
        assert_eq!(ended.code(), Some(code), "{slowdown}: {ended:?}");
        let lines = levels(&ended);
        assert_eq!(lines.len(), usize::from(level.is_some()), "each row once: {ended:?}");
        if let (Some(level), [line]) = (level, lines.as_slice()) {
            let percent = format!("takes {:.1}% longer", (slowdown - 1.0) * 100.0);
            assert!(line.starts_with(level) && line.contains("gemm 64 f32 strict"), "{line}");
            assert!(line.contains(&percent), "{percent}: {line}");
        }
        assert_eq!(compared("tolerated", &now, &was, &[]).code(), Some(0), "only reported: {slowdown}");
    }
}

#[test]
fn a_difference_within_the_noise_is_no_regression() {
    // Of five rounds of this interquartile range, the fastest quarter is certain to 0.63 ranges.
    for (range, slowdown, is_caught) in [
        (0.05, 1.1, true),
        (0.1, 1.12, true),
        (0.12, 1.09, false),
        (0.2, 1.15, false),
        (0.2, 1.25, true),
        (0.5, 1.4, false),
        (0.5, 2.0, true),
    ] {
        let (now, was) =
            (saved(&[(64, spread(1e-3, range))]), saved(&[(64, spread(1e-3 / slowdown, range))]));
        let ended = compared("noise", &now, &was.to_string(), &["--fail-on-regression"]);
        assert_eq!(
            (ended.code(), levels(&ended).len()),
            (Some(i32::from(is_caught)), usize::from(is_caught)),
            "{range} {slowdown}: {ended:?}"
        );
        assert_eq!(ended.stdout.contains("1 the same within their noise"), !is_caught, "{ended:?}");
        // Noise that could hide a slowdown of 10% is named.
        let is_noisy = ended.stdout.contains("noisy      gemm 64 f32 strict: a slowdown of less than ");
        assert_eq!(is_noisy, !is_caught, "{range}: {ended:?}");
    }
    // Rounds without any spread in each half, but the second half takes 12% longer, as on a machine that got slower: its drift
    // is larger than the difference of 5.5%.
    let drifting = |seconds: f64| [1.0, 1.0, 1.0, 1.12, 1.12, 1.12].map(|share| share * seconds).to_vec();
    let (now, was) = (saved(&[(64, drifting(1e-3))]), saved(&[(64, rounds(1e-3 / 1.05))]));
    let ended = compared("drift", &now, &was.to_string(), &["--fail-on-regression"]);
    assert_eq!((ended.code(), levels(&ended).len()), (Some(0), 0), "{ended:?}");
    // Other work on the machine that made more than half of the rounds longer by half.
    let disturbed = [1.0, 1.5, 1.5, 1.01, 1.5, 0.99, 1.5, 1.5, 1.0, 1.01, 1.5, 1.0, 1.5];
    let disturbed = disturbed.map(|share| share * 1e-3).to_vec();
    let (now, was) = (saved(&[(64, disturbed)]), saved(&[(64, rounds(1e-3))]));
    let ended = compared("disturbed", &now, &was.to_string(), &["--fail-on-regression"]);
    assert_eq!((ended.code(), levels(&ended).len()), (Some(0), 0), "{ended:?}");
}

#[test]
fn a_row_of_few_rounds_has_no_level() {
    let few = |seconds: f64| rounds(seconds)[..4].to_vec();
    let now = saved(&[(64, few(2e-3)), (32, rounds(1e-3))]);
    let was = saved(&[(64, rounds(1e-3)), (32, rounds(1e-3))]);
    let ended = compared("few", &now, &was.to_string(), &["--fail-on-regression"]);
    assert_eq!((ended.code(), levels(&ended).len()), (Some(0), 0), "{ended:?}");
    let words =
        "unknown    without a level, as one of the runs has fewer than 5 rounds: gemm 64 f32 strict\n";
    assert!(ended.stdout.contains(words), "{ended:?}");
    ended.prints(["rows       2 in both: 1 the same"]);
    // If that is so of all rows, nothing says that there is no regression.
    let (now, was) = (saved(&[(64, few(1e-3))]), saved(&[(64, rounds(1e-3))]).to_string());
    for (options, code) in [(&[][..], 0), (&["--fail-on-regression"], 1)] {
        let ended = compared("too-few", &now, &was, options);
        assert_eq!(ended.code(), Some(code), "{ended:?}");
        assert!(ended.stdout.contains(&words[..40]), "{ended:?}");
    }
}

#[test]
fn a_saved_run_without_a_common_row_is_refused() {
    let (now, mut was) = (saved(&[(64, rounds(1e-3))]), saved(&[(32, rounds(1e-3)), (16, rounds(1e-3))]));
    for options in [&[][..], &["--fail-on-regression"]] {
        let ended = compared("nothing", &now, &was.to_string(), options);
        ended.refuses([
            "has no row of this run",
            "gemm 32x64x64 f32 strict, gemm 16x64x64 f32",
            "gemm 64 f32 strict",
        ]);
    }
    was["rows"] = json!([]);
    let ended = compared("empty", &now, &was.to_string(), &[]);
    ended.refuses(["it has no rows, this run gemm 64 f32 strict"]);
    // Of another type: before anything is measured.
    let Some(gpu) = support::gpu() else { return };
    was = saved(&[(64, rounds(1e-3))]);
    (was["device"], was["driver"]) = (gpu.caps().adapter.clone().into(), gpu.caps().driver.clone().into());
    let path = scratch("types.json");
    fs::write(&path, was.to_string()).expect("the folder can be written to");
    let name = path.display().to_string();
    let arguments = ["--ops", "gemm", "--sizes", "64", "--dtypes", "f16", "--compare", &name];
    run("benchmark", &arguments, &[]).refuses(["it has gemm 64 f32 strict, this run gemm 64 f16"]);
    fs::remove_file(path).expect("it was written");
}

#[test]
fn an_injected_slowdown_of_a_measured_run_is_caught() {
    let Some(_) = support::gpu() else { return };
    let [save, json] = ["injected.json", "injected-report.json"].map(scratch);
    let [saved, report] = [&save, &json].map(|path| path.display().to_string());
    let measured = ["--ops", "gemm,clifford", "--sizes", "64", "--dtypes", "f32", "--rounds", "15"];
    let _ended = run("benchmark", &[&measured[..], &["--save", &saved]].concat(), &[]).passed();
    let now: Value = serde_json::from_slice(&fs::read(&save).expect("it was written")).expect("JSON");
    // A run is the same as itself.
    let ended = compared("itself", &now, &now.to_string(), &["--fail-on-regression"]);
    assert_eq!((ended.code(), levels(&ended).len()), (Some(0), 0), "{ended:?}");
    ended.prints(["rows       2 in both: 2 the same within their noise, 0 faster"]);
    // Of rows that were faster by a tenth before, each is a warning, unless its own noise is larger and it says so.
    for (slowdown, level) in [(1.1, "warning "), (1.25, "alert "), (9.0, "alert ")] {
        let mut was = now.clone();
        for row in was["rows"].as_array_mut().expect("a list") {
            let rounds: Vec<f64> = serde_json::from_value(row["rounds"].clone()).expect("seconds");
            row["rounds"] = rounds.iter().map(|seconds| seconds / slowdown).collect::<Vec<f64>>().into();
        }
        let ended = compared("slower", &now, &was.to_string(), &["--fail-on-regression", "--json", &report]);
        let compared: Value =
            serde_json::from_slice(&fs::read(&json).expect("it was written")).expect("JSON");
        let mut is_caught = false;
        for pair in compared["comparison"]["pairs"].as_array().expect("a list") {
            let row = pair["row"].as_str().expect("a name");
            let [slower, noise] = ["slower", "noise"].map(|name| pair[name].as_f64().expect("a share"));
            assert!((slower - (slowdown - 1.0)).abs() < 1e-9, "{pair}");
            let line = levels(&ended).into_iter().find(|line| line.contains(row));
            match line {
                Some(line) => assert!(line.starts_with(level) && noise < slower, "{line}"),
                None => {
                    assert!(noise >= slower && ended.stdout.contains(&format!("noisy      {row}")), "{pair}")
                }
            }
            is_caught |= line.is_some();
        }
        assert_eq!(ended.code(), Some(i32::from(is_caught)), "{ended:?}");
        // No machine is as noisy as that.
        assert!(is_caught || slowdown < 9.0, "{ended:?}");
    }
    // A second run is compared row by row. What it finds depends on the machine.
    let ended = run("benchmark", &[&measured[..], &["--compare", &saved]].concat(), &[]);
    assert_eq!(ended.code(), Some(0), "only reported: {ended:?}");
    ended.prints(["rows       2 in both: "]);
    [save, json].into_iter().for_each(|file| fs::remove_file(file).expect("it was written"));
}

#[test]
fn a_wrong_result_is_saved_and_shown_and_fails() {
    for (ratio, shown) in [(json!("inf"), "inf"), (json!("NaN"), "NaN"), (json!(1.5), "1.50")] {
        let mut now = saved(&[(64, rounds(1e-3)), (32, rounds(1e-3))]);
        now["rows"][1]["ok"] = false.into();
        (now["rows"][1]["bound_ratio"], now["rows"][1]["max_abs_err"]) = (ratio.clone(), ratio.clone());
        let json = scratch("wrong.json");
        let ended = compared("wrong", &now, &now.to_string(), &["--json", &json.display().to_string()]);
        assert_eq!(ended.code(), Some(1), "{ended:?}");
        assert!(ended.stdout.contains(&format!("WRONG, full, {shown} of the bound")), "{ended:?}");
        ended.prints(["check      FAILED: 1 results exceed their bound"]);
        // What is written is read again.
        let written = fs::read_to_string(&json).expect("it was written");
        let written: Value = serde_json::from_str(&written).expect("JSON");
        assert_eq!((&written["rows"][1]["bound_ratio"], &written["ok"]), (&ratio, &false.into()));
        let ended = run("benchmark", &["--from", &json.display().to_string()], &[]);
        assert_eq!(ended.code(), Some(1), "{ended:?}");
        // It does not pass as right.
        now["rows"][1]["ok"] = true.into();
        let ended = compared("passed", &now, &now.to_string(), &[]);
        ended.refuses(["gemm 32x64x64 f32 strict has `ok` true with an error of"]);
        fs::remove_file(json).expect("it was written");
    }
}

#[test]
fn rows_of_one_run_only_are_listed_and_another_version_is_named() {
    let now = saved(&[(64, rounds(1e-3)), (128, rounds(2e-3))]);
    let mut was = saved(&[(64, rounds(1e-3)), (32, rounds(1e-3))]);
    was["version"] = "0.0.7".into();
    was["rows"][0]["tile"] = "16x16x8".into();
    let ended = compared("only", &now, &was.to_string(), &["--fail-on-regression"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    ended.prints([
        "in the saved run: gemm 32x64x64 f32 strict",
        "in this run: gemm 128x64x64 f32 strict",
        "version 0.0.7",
        "another version than this one",
        "rows       1 in both",
    ]);
    // A slower row says that another kernel runs, if so.
    was["rows"][0]["rounds"] = rounds(0.5e-3).into();
    let ended = compared("kernels", &now, &was.to_string(), &[]);
    let lines = levels(&ended);
    assert!(lines.len() == 1 && lines[0].contains("tiled 16x16x8 before, tiled 32x64x8 now"), "{ended:?}");
}

#[test]
fn runs_of_another_device_or_driver_are_refused_by_name() {
    let now = saved(&[(64, rounds(1e-3))]);
    for (part, other) in [("device", "Device Two"), ("driver", "driver 9.9")] {
        let mut was = now.clone();
        was[part] = other.into();
        let ended = compared("device", &now, &was.to_string(), &[]);
        ended.refuses(["--compare", "Device One", "driver 1.2", other]);
    }
}

#[test]
fn files_that_are_no_saved_runs_are_refused_with_the_reason() {
    let now = saved(&[(64, rounds(1e-3))]);
    let changed = |change: fn(&mut Value)| {
        let mut was = now.clone();
        change(&mut was);
        was.to_string()
    };
    for (was, why) in [
        ("\u{1}\u{2} garbage".to_owned(), "is no saved run, nor other JSON"),
        (String::new(), "is no saved run, nor other JSON"),
        (now.to_string()[..400].to_owned(), "is no saved run, nor other JSON"),
        ("[1, 2]".to_owned(), "it has no `format`"),
        (
            changed(|was| was["format"] = "tilewise benchmark 99".into()),
            "has the format \"tilewise benchmark 99\"",
        ),
        (changed(|was| was["rows"] = 3.into()), "is no saved run: invalid type"),
        (changed(|was| was["rows"][0]["rounds"] = json!([])), "has no times"),
        (changed(|was| was["rows"][0]["rounds"][0] = 0.0.into()), "has no times"),
        (changed(|was| was["rows"][0]["rounds"][0] = (-1.0).into()), "has no times"),
        (changed(|was| was["peaks"]["f32"] = 0.0.into()), "its peaks are no positive numbers"),
    ] {
        let ended = compared("garbage", &now, &was, &[]);
        let refusal = ended.refusal();
        assert!(refusal.contains("garbage-was.json") && refusal.contains(why), "{why}: {refusal}");
    }
    run("benchmark", &["--compare", "/nonexistent/run.json"], &[])
        .refuses(["--compare /nonexistent/run.json: cannot be read"]);
    run("benchmark", &["--from", "/nonexistent/run.json"], &[])
        .refuses(["--from /nonexistent/run.json: cannot be read"]);
}

#[test]
fn a_measured_run_is_compared_with_its_own_device_only() {
    let Some(_) = support::gpu() else { return };
    let was = scratch("foreign.json");
    fs::write(&was, saved(&[(64, rounds(1e-3))]).to_string()).expect("the folder can be written to");
    run("benchmark", &["--quick", "--compare", &was.display().to_string()], &[]).refuses(["Device One"]);
    fs::remove_file(was).expect("it was written");
}

/// The numbers of an attribute, in order.
fn numbers(picture: &str, element: &str, attribute: &str) -> Vec<f64> {
    let of = |part: &str| {
        part.split_once(&format!("{attribute}=\"")).and_then(|(_, rest)| rest.split('"').next()?.parse().ok())
    };
    picture.split(&format!("<{element} ")).skip(1).filter_map(of).collect()
}

#[test]
fn points_lie_where_their_intensity_and_speed_are() {
    // The first row reaches the peak of fma. The second takes as long for half of the work. The third has none.
    let seconds = 524_288.0 / 5e10;
    let mut now = saved(&[(64, rounds(seconds)), (32, rounds(seconds)), (8, rounds(seconds))]);
    now["rows"][2]["flops"]["f32"] = 0.0.into();
    now["rows"][1]["turns"]["in_cache"] = true.into();
    now["rows"][2]["op"] = "copy".into();
    let svg = scratch("places.svg");
    let ended = compared("places", &now, &now.to_string(), &["--svg", &svg.display().to_string()]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let picture = fs::read_to_string(&svg).expect("it was written");
    let [x, y] = ["cx", "cy"].map(|of| numbers(&picture, "circle", of));
    // Both points, and their mark in the legend.
    assert_eq!((x.len(), y.len()), (3, 3), "{picture}");
    assert!(x[1] < x[0] && y[1] > y[0] && x[2] > x[0], "{x:?} {y:?}");
    // The two lines: the copy rises to the bend at 5 flop a byte, fma goes on from there.
    let lines: Vec<Vec<f64>> = picture
        .lines()
        .filter(|line| line.starts_with("<polyline") && line.contains("stroke-width=\"2\""))
        .filter_map(|line| line.split("points=\"").nth(1)?.split('"').next())
        .map(|points| points.split([',', ' ']).filter_map(|number| number.parse().ok()).collect())
        .collect();
    let [copy, fma] = lines.as_slice() else { panic!("{lines:?}") };
    assert!(copy[1] > copy[3] && copy[2..] == fma[..2] && fma[1] == fma[3], "{lines:?}");
    assert!((y[0] - fma[1]).abs() <= 1.0 && fma[0] < x[1] && x[0] < fma[2], "{x:?} {y:?} {lines:?}");
    for text in [
        "not drawn, without arithmetic: copy",
        "Roofline of Device One",
        "driver 1.2",
        "2026-11-26",
        "fma of f32: 50.0 GFLOP/s",
        "copy: 10.0 GB/s",
        "32x64x64*",
        "*: the operands that take turns fit in ",
    ] {
        assert!(picture.contains(text), "{text}: {picture}");
    }
    fs::remove_file(svg).expect("it was written");
}
