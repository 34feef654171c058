//! The example `benchmark` compares saved runs, and draws them: no device is needed.

use crate::support::example::{Ended, run, scratch};
use serde_json::{Value, json};
use std::fs;

/// The seconds of the rounds of a row: a median, and an interquartile range of 1% of it.
fn rounds(seconds: f64) -> Vec<f64> {
    [0.99, 0.995, 1.0, 1.005, 1.01].map(|share| share * seconds).to_vec()
}

fn row(m: usize, rounds: &[f64]) -> Value {
    json!({
        "op": "gemm", "m": m, "n": 64, "k": 64, "dtype": "f32", "precision": "strict", "pinned": null,
        "choice": "predicted", "kernel": "tiled", "tile": "32x64x8", "together": 4, "clock": "gpu", "rounds": rounds,
        "predicted_seconds": 1e-3, "matrix_flops": 0.0, "other_flops": 2.0 * 64.0 * 64.0 * m as f64,
        "bytes": 4 * (64 * 64 + 128 * m), "check": "full", "max_abs_err": 1e-7, "bound_ratio": 0.1, "ok": true,
    })
}

/// A saved run with a row of each of these numbers of rows and rounds.
fn saved(rows: &[(usize, Vec<f64>)]) -> Value {
    json!({
        "format": "tilewise benchmark 1", "version": env!("CARGO_PKG_VERSION"), "date": "2026-11-26T12:00:00Z",
        "command": "benchmark", "device": "Device One", "backend": "vulkan", "driver": "driver 1.2",
        "peaks": { "fma": 5e10, "copy": 1e10, "matrices": null }, "finished": true,
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
fn a_difference_within_the_spreads_is_no_regression() {
    // Interquartile ranges of 10% of each median.
    let wide = |seconds: f64| [0.9, 0.95, 1.0, 1.05, 1.1].map(|share| share * seconds).to_vec();
    for (slowdown, is_caught) in [(1.15, false), (1.3, true)] {
        let (now, was) = (saved(&[(64, wide(1e-3))]), saved(&[(64, wide(1e-3 / slowdown))]));
        let ended = compared("noise", &now, &was.to_string(), &["--fail-on-regression"]);
        assert_eq!(
            (ended.code(), levels(&ended).len()),
            (Some(i32::from(is_caught)), usize::from(is_caught)),
            "{ended:?}"
        );
        assert_eq!(ended.stdout.contains("1 the same within their spreads"), !is_caught, "{ended:?}");
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
    for text in [
        "in the saved run: gemm 32x64x64 f32 strict",
        "in this run: gemm 128x64x64 f32 strict",
        "version 0.0.7",
        "another version than this one",
        "rows       1 in both",
    ] {
        assert!(ended.stdout.contains(text), "{text}: {ended:?}");
    }
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
        let refusal = ended.refusal();
        for text in ["--compare", "Device One", "driver 1.2", other] {
            assert!(refusal.contains(text), "{text}: {refusal}");
        }
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
        (changed(|was| was["peaks"]["fma"] = 0.0.into()), "its peaks are no positive numbers"),
    ] {
        let ended = compared("garbage", &now, &was, &[]);
        let refusal = ended.refusal();
        assert!(refusal.contains("garbage-was.json") && refusal.contains(why), "{why}: {refusal}");
    }
    let ended = run("benchmark", &["--compare", "/nonexistent/run.json"], &[]);
    assert!(ended.refusal().contains("--compare /nonexistent/run.json: cannot be read"), "{ended:?}");
    let ended = run("benchmark", &["--from", "/nonexistent/run.json"], &[]);
    assert!(ended.refusal().contains("--from /nonexistent/run.json: cannot be read"), "{ended:?}");
}

#[test]
fn a_measured_run_is_compared_with_its_own_device_only() {
    if crate::support::gpu().is_none() {
        return;
    }
    let was = scratch("foreign.json");
    fs::write(&was, saved(&[(64, rounds(1e-3))]).to_string()).expect("the folder can be written to");
    let ended = run("benchmark", &["--quick", "--compare", &was.display().to_string()], &[]);
    assert!(ended.refusal().contains("Device One"), "{ended:?}");
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
    now["rows"][2]["other_flops"] = 0.0.into();
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
    ] {
        assert!(picture.contains(text), "{text}: {picture}");
    }
    fs::remove_file(svg).expect("it was written");
}
