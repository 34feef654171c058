//! The example `wgpu_app` as a user runs it: what its frames cost, the files it writes, and what it refuses.

use serde_json::Value;
use std::fs;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use support::example::{run, scratch};

/// The launches of a frame: one for each layer of the network.
const LAYERS: u64 = 5;

fn assert_report(report: &Value, frames: u64) {
    let count = |name: &str| report[name].as_u64().unwrap_or_else(|| panic!("{name}: {report}"));
    let number = |name: &str| report[name].as_f64().unwrap_or_else(|| panic!("{name}: {report}"));
    assert_eq!(report["ok"], true, "{report}");
    // Each picture is drawn alone, and once more with others in flight.
    assert_eq!(count("frames"), frames);
    assert_eq!(count("frames_encoded"), 2 * frames);
    assert_eq!(count("launches"), 2 * frames * LAYERS, "one launch for each layer");
    assert_eq!(count("submits_by_application"), 2 * frames, "one submission for each frame");
    for nothing in ["submits_by_library", "bytes_uploaded_by_library", "buffers_created_in_last_frame"] {
        assert_eq!(count(nothing), 0, "{nothing}");
    }
    assert_eq!(report["same_bits_in_flight"], true);
    assert_eq!(report["faults"].as_array().map(Vec::len), Some(0));
    for ratio in ["bound_ratio", "picture_bound_ratio"] {
        assert!(number(ratio) > 0.0 && number(ratio) <= 1.0, "{ratio}: {report}");
    }
    assert!(number("host_seconds") > 0.0 && number("seconds") >= number("host_seconds"), "{report}");
    assert!(number("seconds_in_flight") > 0.0, "{report}");
    assert_eq!(report["plans"].as_array().map(Vec::len), Some(5));
}

/// The size of a PNG file, and its pixels of three bytes each.
fn picture(path: &Path) -> ([u32; 2], Vec<u8>) {
    let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut reader = png::Decoder::new(BufReader::new(file)).read_info().expect("a PNG file");
    let mut pixels = vec![0; reader.output_buffer_size().expect("its size is known")];
    let info = reader.next_frame(&mut pixels).expect("a whole picture");
    assert_eq!(info.color_type, png::ColorType::Rgb);
    ([info.width, info.height], pixels)
}

#[test]
fn frames_are_one_submission_of_the_application_and_their_pictures_are_written() {
    let Some(gpu) = support::gpu() else { return };
    let folder = scratch("pictures");
    let out = folder.display().to_string();
    // An odd width: the rows of the picture are padded, and the last workgroup is not full.
    let arguments = ["--frames", "4", "--size", "61x34", "--out", &out, "--json"];
    let report = run("wgpu_app", &arguments, &[]).json();
    assert_report(&report, 4);
    assert_eq!(report["device"].as_str(), Some(gpu.caps().adapter.as_str()));
    assert_eq!(report["dtype"], "f16");
    assert_eq!(report["checked_pixels"], 61 * 34, "all of them");
    let read = |index: usize| picture(&folder.join(format!("frame-{index:04}.png")));
    let pictures: Vec<Vec<u8>> = (0..4)
        .map(|index| {
            let (size, pixels) = read(index);
            assert_eq!((size, pixels.len()), ([61, 34], 3 * 61 * 34));
            pixels
        })
        .collect();
    assert!(!folder.join("frame-0004.png").exists());
    let colours: std::collections::BTreeSet<&[u8]> = pictures[0].chunks(3).collect();
    assert!(colours.len() > 100, "a picture of {} colours", colours.len());
    assert!(pictures[1..].iter().all(|later| later != &pictures[0]), "time passes");
    // The same seed, the same pictures; another one, others.
    run("wgpu_app", &arguments, &[]).json();
    assert_eq!(read(3).1, pictures[3]);
    run("wgpu_app", &[&arguments[..], &["--seed", "2"]].concat(), &[]).json();
    assert_ne!(read(3).1, pictures[3]);
    fs::remove_dir_all(folder).expect("it was written");
}

#[test]
fn networks_of_f32_and_larger_pictures_are_checked_too() {
    let Some(_) = support::gpu() else { return };
    let report =
        run("wgpu_app", &["--frames", "1", "--size", "96x54", "--dtype", "f32", "--json"], &[]).json();
    assert_report(&report, 1);
    assert_eq!(report["dtype"], "f32");
    assert_eq!(report["checked_pixels"], 96 * 54 / 2, "every second one");
    run("wgpu_app", &["--frames", "2", "--size", "3x1", "--seed", "9"], &[]).passed().prints([
        "2 of 3 x 1",
        "by the library 0 submissions",
        "check      ok",
    ]);
}

#[test]
fn wrong_options_end_with_a_short_message() {
    for (arguments, words) in [
        (&["--size", "0x10"][..], &["--size", "0x10", "WIDTHxHEIGHT"][..]),
        (&["--size", "640"], &["--size", "640", "WIDTHxHEIGHT"]),
        (&["--size", "8193x1"], &["--size", "8192"]),
        (&["--frames", "0"], &["--frames", "0"]),
        (&["--dtype", "f64"], &["--dtype", "f64", "f16", "f32"]),
        (&["--seed", "-1"], &["-1"]),
        (&["--window"], &["--window", "cargo run --release -p tilewise-window"]),
    ] {
        let ended = run("wgpu_app", arguments, &[]);
        assert_eq!((ended.code(), ended.stdout.as_str()), (Some(2), ""), "{arguments:?}: {ended:?}");
        assert!(words.iter().all(|word| ended.stderr.contains(word)), "{words:?}: {}", ended.stderr);
    }
    let help = run("wgpu_app", &["--help"], &[]).passed();
    assert!(help.stdout.contains("-p tilewise-window"), "how to see it in a window: {}", help.stdout);
}

#[test]
fn what_the_device_or_the_disk_does_not_allow_is_refused_in_one_sentence() {
    let Some(gpu) = support::gpu() else { return };
    let small = ["--frames", "1", "--size", "4x4", "--json"];
    let ended = run("wgpu_app", &[&small[..], &["--out", "/dev/null/pictures"]].concat(), &[]);
    let refusal = ended.refusal();
    assert!(refusal.contains("/dev/null/pictures") && refusal.contains("cannot be written"), "{refusal}");
    if gpu.caps().limits.binding_bytes < 8192 * 8192 * 16 {
        let ended = run("wgpu_app", &["--frames", "1", "--size", "8192x8192", "--json"], &[]);
        let refusal = ended.refusal();
        assert!(refusal.contains("--size") && refusal.contains("8192x8192"), "{refusal}");
    }
}
