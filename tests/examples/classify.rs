//! The example `classify` as a user runs it: its rows, its picture, and what it refuses.

use serde_json::{Value, json};
use std::fs;
use support::example::{run, scratch};

#[test]
fn every_row_recognises_digits_within_its_bounds() {
    let Some(gpu) = support::gpu() else { return };
    let out = scratch("digits.png");
    let path = out.display().to_string();
    let report = run("classify", &["--frames", "18", "--batch", "8", "--out", &path, "--json"], &[]).json();
    assert_eq!([&report["ok"], &report["pictures"], &report["batch"]], [&json!(true), &json!(18), &json!(8)]);
    assert_eq!(report["device"].as_str(), Some(gpu.caps().adapter.as_str()));
    assert_eq!([&report["convolutions"], &report["parameters"]], [&json!(15), &json!(143_461)]);
    let rows = report["rows"].as_array().expect("a list");
    let names: Vec<&str> = rows.iter().filter_map(|row| row["row"].as_str()).collect();
    assert_eq!(names, ["f32", "f16, matrix units off", "f16, as planned", "bf16, as planned"]);
    let number = |row: &Value, name: &str| row[name].as_f64().unwrap_or_else(|| panic!("{name}: {row}"));
    for row in rows {
        // A launch for each of 15 convolutions with their norms and activations, and a mean. The 12 that are not depthwise may be summed in
        // two launches, if there are few windows of many channels.
        assert!((16.0..=28.0).contains(&number(row, "launches")) && number(row, "right") >= 17.0, "{row}");
        assert!(number(row, "bound_ratio") > 0.0 && number(row, "bound_ratio") <= 1.0, "{row}");
        let rate = number(row, "frames_per_second") * number(row, "milliseconds");
        assert!((rate / 1e3 - 1.0).abs() < 1e-9, "{row}");
    }
    let [f32, off, f16, bf16] = [0, 1, 2, 3].map(|at| &rows[at]);
    assert_eq!([number(f32, "on_matrix_units"), number(off, "on_matrix_units")], [0.0; 2]);
    // The same weights in f32 give PyTorch's outputs; a type of fewer bits has larger errors and takes less memory.
    let [exact, rounded, coarse] = [f32, f16, bf16].map(|row| number(row, "largest_error"));
    assert!(exact > 0.0 && exact < 2e-5 && exact < rounded && rounded < coarse, "{report}");
    assert!(1.9 * number(f16, "megabytes") < number(f32, "megabytes"), "{report}");
    let (size, pixels) = crate::frames::picture(&out);
    assert_eq!(size, [8 * 134 + 6, 3 * 155 + 6], "three rows of eight frames");
    // Classes that were found are green.
    assert!(pixels.chunks(3).filter(|colour| *colour == [80, 220, 100]).count() > 17 * 60);
    fs::remove_file(out).expect("it was written");
}

#[test]
fn wrong_input_ends_with_a_short_message() {
    for (arguments, words) in [
        (&["--frames", "0"][..], &["--frames 0", "1 to 449"][..]),
        (&["--frames", "450"], &["--frames 450", "1 to 449"]),
        (&["--data", "/nonexistent"], &["/nonexistent/digits.csv.gz", "cannot be read"]),
        (&["--out", "/dev/null/x.png"], &["/dev/null/x.png", "cannot be written"]),
    ] {
        run("classify", arguments, &[]).refuses(words);
    }
    let ended = run("classify", &["--batch", "0"], &[]);
    assert_eq!((ended.code(), ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
}
