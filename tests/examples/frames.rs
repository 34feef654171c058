//! The example `frames` as a user runs it: what a replayed frame costs, the pictures, and what it refuses.

use serde_json::Value;
use std::fs;
use std::path::Path;
use support::example::{run, scratch};

/// The launches of a frame: its cast, a convolution, two layers, and the bytes.
const LAUNCHES: u64 = 5;

fn assert_report(report: &Value, [width, height]: [u64; 2], frames: u64, checked: u64) {
    let count = |name: &str| report[name].as_u64().unwrap_or_else(|| panic!("{name}: {report}"));
    assert_eq!(report["ok"], true, "{report}");
    assert_eq!([count("width"), count("height"), count("frames")], [width, height, frames]);
    assert_eq!([count("launches_per_frame"), count("launches")], [LAUNCHES, LAUNCHES * frames]);
    assert!(
        (frames..=2 * frames).contains(&count("submits")),
        "one for the launches, one for the read: {report}"
    );
    for nothing in ["buffers_created", "plans"] {
        assert_eq!(count(nothing), 0, "{nothing}");
    }
    assert_eq!(report["same_bits"], true);
    assert_eq!([count("checked_frames"), count("checked_pixels")], [checked, checked * width * height]);
    let ratio = report["bound_ratio"].as_f64().expect("a number");
    assert!(ratio > 0.0 && ratio <= 1.0, "{report}");
    for kind in ["replayed", "eager"] {
        let number = |name: &str| report[kind][name].as_f64().unwrap_or_else(|| panic!("{name}: {report}"));
        let [slowest, median, fastest] =
            ["frames_per_second_min", "frames_per_second", "frames_per_second_max"].map(number);
        assert!(0.0 < slowest && slowest <= median && median <= fastest, "{report}");
        let parts = ["upload", "launches", "read"].map(|part| number(&format!("host_microseconds_{part}")));
        assert!(parts.iter().all(|&part| part > 0.0), "{report}");
        assert!((number("host_microseconds") / parts.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{report}");
        assert!(number("host_microseconds") < 1e6 / slowest, "no more than the time of a frame: {report}");
        assert_eq!(report[kind]["turns"], frames.div_ceil(8));
    }
    let rate = report["replayed"]["frames_per_second"].as_f64();
    assert_eq!(report["target_frames_per_second"], 25.0);
    assert_eq!(report["target_reached"].as_bool(), rate.map(|rate| rate >= 25.0));
}

/// The size of a PNG file, and its pixels of three bytes each.
pub(crate) fn picture(path: &Path) -> ([u32; 2], Vec<u8>) {
    let file = fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().expect("a PNG file");
    let mut pixels = vec![0; reader.output_buffer_size().expect("its size is known")];
    let info = reader.next_frame(&mut pixels).expect("a whole picture");
    assert_eq!(info.color_type, png::ColorType::Rgb);
    ([info.width, info.height], pixels)
}

#[test]
fn replayed_frames_are_those_without_a_replay_and_cost_only_their_launches() {
    let Some(gpu) = support::gpu() else { return };
    let folder = scratch("frames");
    let out = folder.display().to_string();
    // An odd width and height: no row and no frame is a whole number of words. The last turn has one frame.
    let arguments = ["--frames", "9", "--size", "31x17", "--check", "4", "--out", &out, "--json"];
    let report = run("frames", &arguments, &[]).json();
    assert_report(&report, [31, 17], 9, 3);
    assert_eq!(report["device"].as_str(), Some(gpu.caps().adapter.as_str()));
    let text = report["replay"].as_str().expect("the replay in words");
    assert!(text.starts_with("replay: 5 operations in 5 launches"), "{text}");
    assert!(text.contains("input 0: i8 [21, 35, 3]"), "the frame and a border of two pixels: {text}");
    let read = |index: usize| picture(&folder.join(format!("frame-{index:05}.png")));
    let pictures: Vec<Vec<u8>> = (0..9)
        .map(|index| {
            let (size, pixels) = read(index);
            assert_eq!((size, pixels.len()), ([31, 17], 3 * 31 * 17));
            pixels
        })
        .collect();
    assert!(!folder.join("frame-00009.png").exists());
    let colours: std::collections::BTreeSet<&[u8]> = pictures[0].chunks(3).collect();
    assert!(colours.len() > 100, "a picture of {} colours", colours.len());
    assert!(pictures.windows(2).all(|two| two[0] != two[1]), "time passes");
    // The same seed, the same pictures; another one, others.
    run("frames", &arguments, &[]).json();
    assert_eq!(read(8).1, pictures[8]);
    run("frames", &[&arguments[..], &["--seed", "2"]].concat(), &[]).json();
    assert_ne!(read(8).1, pictures[8]);
    fs::remove_dir_all(folder).expect("it was written");
}

#[test]
fn frames_of_a_file_are_read_in_order() {
    let Some(_) = support::gpu() else { return };
    let [file, folder] = ["stream.rgb", "of-a-file"].map(scratch);
    let [input, out] = [&file, &folder].map(|path| path.display().to_string());
    let bytes: Vec<u8> = (0..3 * 13 * 7 * 3).map(|at: u32| (at * at / 5 % 251).to_le_bytes()[0]).collect();
    fs::write(&file, &bytes).expect("the folder can be written to");
    let arguments = ["--input", &input, "--size", "13x7", "--check", "1", "--out", &out];
    let report = run("frames", &[&arguments[..], &["--json"]].concat(), &[]).json();
    assert_report(&report, [13, 7], 3, 3);
    assert_eq!(report["source"].as_str(), Some(input.as_str()));
    let read = |index: usize| picture(&folder.join(format!("frame-{index:05}.png"))).1;
    let (first, last) = (read(0), read(2));
    assert_ne!(first, last);
    // The last frame alone has the same picture.
    fs::write(&file, &bytes[2 * 13 * 7 * 3..]).expect("the folder can be written to");
    let ended = run("frames", &arguments, &[]).passed();
    assert_eq!(read(0), last);
    ended.prints([
        "1 of 13 x 7",
        "0 buffers created, 0 plans",
        "25 frames per second: ",
        "check      ok",
        "replay     5",
    ]);
    // Fewer frames than there are, of one pixel each.
    let report = run("frames", &["--input", &input, "--size", "1x1", "--frames", "2", "--json"], &[]).json();
    assert_report(&report, [1, 1], 2, 1);
    fs::remove_file(file).expect("it was written");
    fs::remove_dir_all(folder).expect("it was written");
}

#[test]
fn frames_that_the_device_cannot_hold_are_refused_in_one_sentence() {
    let Some(gpu) = support::gpu() else { return };
    if gpu.caps().limits.binding_bytes < 4096 * 4096 * 64 {
        let ended = run("frames", &["--frames", "1", "--size", "4096x4096", "--json"], &[]);
        let refusal = ended.refusal();
        assert!(refusal.contains("--size") && refusal.contains("4096x4096"), "{refusal}");
    }
}

/// By plan, on an RTX 3090, a frame of the U-Net takes at most 28 ms and 4,000 MB, and matrix units compute nearly all of it.
#[test]
fn a_large_network_is_planned_for_devices_that_are_not_here() {
    let report = run("frames", &["--large", "--json"], &[]).json();
    let parameters = report["parameters"].as_f64().expect("a number");
    assert!((parameters / 880e6 - 1.0).abs() < 0.005, "{parameters}");
    assert_eq!([&report["width"], &report["height"]], [1280, 768]);
    let rows = report["fixtures"].as_array().expect("a list");
    let known = tilewise::planning::fixtures::ALL.map(|(name, _)| name);
    assert_eq!(rows.iter().filter_map(|row| row["fixture"].as_str()).collect::<Vec<_>>(), known);
    let number = |row: &Value, name: &str| row[name].as_f64().unwrap_or_else(|| panic!("{name}: {row}"));
    for row in rows {
        if let Some(lacks) = row["lacks"].as_str() {
            assert_eq!((row["fixture"].as_str(), lacks), (Some("bare-vulkan"), "needs 6 storage bindings"));
            continue;
        }
        // Weights are f16, scales, shifts and biases f32.
        let weights = number(row, "megabytes_of_weights") / (2e-6 * parameters);
        assert!(weights > 1.0 && weights < 1.001, "{row}");
        assert!(number(row, "milliseconds") > 0.0 && number(row, "launches") > 200.0, "{row}");
    }
    let row = rows.iter().find(|row| row["fixture"] == "rtx-3090").expect("it is a fixture");
    assert!(number(row, "milliseconds") <= 28.0 && number(row, "on_matrix_units") >= 0.8, "{row}");
    let megabytes = number(row, "megabytes_of_weights") + number(row, "megabytes_of_activations");
    assert!(megabytes <= 4000.0, "{row}");
}

#[test]
fn wrong_input_ends_with_a_short_message() {
    let [short, empty, folder] = ["short.rgb", "empty.rgb", "a-folder"].map(scratch);
    fs::write(&short, [0; 3 * 4 * 4 * 2 + 5]).expect("the folder can be written to");
    fs::write(&empty, []).expect("the folder can be written to");
    fs::create_dir_all(&folder).expect("the folder can be written to");
    let names = [&short, &empty, &folder].map(|path| path.display().to_string());
    for (arguments, words) in [
        (&["--size", "0x1"][..], &["--size", "0x1", "WIDTHxHEIGHT"][..]),
        (&["--size", "640"], &["--size", "640", "WIDTHxHEIGHT"]),
        (&["--size", "4097x1"], &["--size", "4096"]),
        (&["--frames", "0"], &["--frames", "0"]),
        (&["--check", "0"], &["--check", "0"]),
        (&["--seed", "-1"], &["-1"]),
        (&["--large", "--size", "4x4"], &["--large", "--size"]),
        (&["--input", &names[0]], &["--size"]),
        (&["--input", &names[0], "--size", "4x4"], &["short.rgb", "101 bytes", "whole number", "4x4", "48"]),
        (&["--input", &names[0], "--size", "64x64"], &["short.rgb", "101 bytes", "12288"]),
        (&["--input", &names[1], "--size", "4x4"], &["empty.rgb", "0 bytes"]),
        (&["--input", &names[2], "--size", "4x4"], &["a-folder", "not a regular file"]),
        (&["--input", "/nonexistent/x.rgb", "--size", "4x4"], &["/nonexistent/x.rgb", "cannot be read"]),
        (&["--size", "4x4", "--out", "/dev/null/pictures"], &["/dev/null/pictures", "cannot be written"]),
        (&["--size", "4x4", "--out", &names[0]], &["short.rgb", "cannot be written"]),
    ] {
        let ended = run("frames", &[arguments, &["--json"]].concat(), &[]);
        assert_eq!((ended.code(), ended.stdout.as_str()), (Some(2), ""), "{arguments:?}: {ended:?}");
        assert!(words.iter().all(|word| ended.stderr.contains(word)), "{words:?}: {}", ended.stderr);
        assert!(ended.stderr.lines().count() <= 6, "short: {}", ended.stderr);
    }
    // Two whole frames, where three are asked for.
    fs::write(&short, [0; 3 * 4 * 4 * 2]).expect("the folder can be written to");
    let ended = run("frames", &["--input", &names[0], "--size", "4x4", "--frames", "3"], &[]);
    assert_eq!((ended.code(), ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    assert!(ended.stderr.contains("2 frames") && ended.stderr.contains("--frames 3"), "{}", ended.stderr);
    for file in [short, empty] {
        fs::remove_file(file).expect("it was written");
    }
    fs::remove_dir(folder).expect("it was created");
}
