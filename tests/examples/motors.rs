//! The example `motors` as a user runs it: where clouds end, what it refuses, and how it ends; and the files of f64 that
//! clouds come in.

use serde_json::Value;
use std::fs;
use std::path::Path;
use support::example::{run, scratch};
use support::failure::says;
use tilewise::Element;
use tilewise::io::{Npy, NpyData, read_npy_f64, write_npy_slice};

/// A file of f64, as NumPy writes it.
fn write_f64(path: &Path, shape: &str, values: &[f64]) {
    let dict = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
    let header = format!("{dict:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(values.iter().flat_map(|x| x.to_le_bytes()));
    fs::write(path, bytes).expect("the folder can be written to");
}

fn assert_report(report: &Value) {
    let number = |name: &str| report[name].as_f64().unwrap_or_else(|| panic!("{name}: {report}"));
    assert_eq!(report["ok"], true, "{report}");
    // Of numbers that are no integers some are rounded.
    assert!(number("bound_ratio") > 0.0 && number("bound_ratio") <= 1.0, "{report}");
    assert!(number("seconds") > 0.0 && number("copy_gbps") > 0.0, "{report}");
    let gbps = 32.0 * number("points") / number("seconds") * 1e-9;
    assert!((number("gbps") / gbps - 1.0).abs() < 1e-9, "{report}");
}

fn moved(path: &Path) -> (Vec<usize>, Vec<f32>) {
    let read = Npy::read(path).expect("the cloud was written");
    let NpyData::F32(values) = read.data() else { panic!("in another type") };
    (read.shape().to_vec(), values.clone())
}

#[test]
fn a_cloud_without_a_file_is_a_knot_that_is_drawn_along_its_path() {
    let Some(gpu) = support::gpu() else { return };
    let [svg, out] = ["knot.svg", "knot.npy"].map(scratch);
    let [svg_name, out_name] = [&svg, &out].map(|path| path.display().to_string());
    let report =
        run("motors", &["--steps", "12", "--svg", &svg_name, "--out", &out_name, "--json"], &[]).json();
    assert_report(&report);
    assert_eq!(report["device"].as_str(), Some(gpu.caps().adapter.as_str()));
    assert_eq!([&report["points"], &report["motors"]], [&Value::from(2400), &Value::from(48)]);
    let picture = fs::read_to_string(&svg).expect("the picture was written");
    assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
    assert_eq!(picture.matches("<circle").count(), 5, "the poses");
    assert_eq!(picture.matches("<path").count(), 9, "the clouds: two for each of four screws, and the first");
    let line = picture.split("points=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a line");
    assert_eq!(line.split(' ').count(), 49, "where the origin is, at every motor");
    let (shape, values) = moved(&out);
    assert_eq!(shape, [2400, 3]);
    let middle = values.chunks_exact(3).map(|p| f64::from(p[0])).sum::<f64>() / 2400.0;
    assert!((8.0..11.0).contains(&middle), "nine radii on: {middle}");
    // The same seed, the same cloud; more motors, the same end; another seed, another path.
    let again = |arguments: &[&str]| {
        assert_report(&run("motors", &[arguments, &["--out", &out_name, "--json"]].concat(), &[]).json());
        moved(&out).1
    };
    let finer = again(&["--steps", "30"]);
    let apart = values.iter().zip(&finer).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(apart < 1e-4, "{apart}");
    assert_ne!(again(&["--seed", "1"]), finer);
    for path in [svg, out] {
        fs::remove_file(path).expect("it was written");
    }
}

#[test]
fn clouds_of_f32_and_f64_move_alike() {
    let Some(_) = support::gpu() else { return };
    let [single, double, out] = ["f32.npy", "f64.npy", "moved.npy"].map(scratch);
    let values: Vec<f64> =
        (0..3 * 77).map(|i| f64::from(f32::from_f64((f64::from(i) * 0.7).sin()))).collect();
    let rounded: Vec<f32> = values.iter().map(|&x| f32::from_f64(x)).collect();
    write_npy_slice(&single, [77, 3], &rounded).expect("the folder can be written to");
    write_f64(&double, "(77, 3)", &values);
    let out_name = out.display().to_string();
    let ends = [&single, &double].map(|file| {
        let name = file.display().to_string();
        run("motors", &["--points", &name, "--out", &out_name, "--steps", "3"], &[]).passed().prints([
            "77 points",
            "path       12 motors",
            "check      ok",
        ]);
        moved(&out)
    });
    assert_eq!(ends[0], ends[1]);
    assert_eq!(ends[0].0, [77, 3]);
    for path in [single, double, out] {
        fs::remove_file(path).expect("it was written");
    }
}

#[test]
fn what_is_no_cloud_is_refused_in_one_sentence() {
    let Some(_) = support::gpu() else { return };
    let files = ["nan.npy", "wide.npy", "flat.npy", "empty.npy", "large.npy"].map(scratch);
    let names = files.each_ref().map(|path| path.display().to_string());
    let [nan, wide, flat, empty, large] = &files;
    let mut values = [1.0f32; 12];
    values[7] = f32::NAN;
    write_npy_slice(nan, [4, 3], &values).expect("the folder can be written to");
    write_npy_slice(wide, [3, 4], &[1.0f32; 12]).expect("the folder can be written to");
    write_npy_slice(flat, [12], &[1.0f32; 12]).expect("the folder can be written to");
    write_npy_slice::<f32>(empty, [0, 3], &[]).expect("the folder can be written to");
    write_f64(large, "(1, 3)", &[0.0, 1e39, 0.0]);
    for (arguments, words) in [
        (&["--points", &names[0]][..], &["nan.npy", "[2, 1]", "NaN"][..]),
        (&["--points", &names[1]], &["wide.npy", "n x 3", "[3, 4]"]),
        (&["--points", &names[2]], &["flat.npy", "n x 3", "[12]"]),
        (&["--points", &names[3]], &["empty.npy", "no points"]),
        (&["--points", &names[4]], &["large.npy", "[0, 1]", "f32"]),
        (&["--points", "/nonexistent/cloud.npy"], &["/nonexistent/cloud.npy", "cannot be opened"]),
        (&["--steps", "0"], &["--steps", "0"]),
        (&["--steps", "1", "--svg", "/nonexistent/x.svg"], &["/nonexistent/x.svg", "cannot be written"]),
        (&["--steps", "1", "--out", "/nonexistent/x.npy"], &["/nonexistent/x.npy", "cannot be written"]),
    ] {
        run("motors", &[arguments, &["--json"]].concat(), &[]).refuses(words);
    }
    for path in files {
        fs::remove_file(path).expect("it was written");
    }
}

#[test]
fn files_of_every_type_and_order_are_read_in_f64() {
    let by_numpy = |name: &str| support::root().join("tests/data/npy").join(name);
    let values = [0.0, 0.5, 1.0, -2.0, 3.25, f64::from(1e-3f32)].to_vec();
    assert_eq!(read_npy_f64(by_numpy("f64.npy")).unwrap(), (vec![2, 3], values.clone()));
    assert_eq!(read_npy_f64(by_numpy("c_f32.npy")).unwrap(), (vec![2, 3], values));
    let counting = (0..24).map(f64::from).collect();
    assert_eq!(read_npy_f64(by_numpy("fortran_f16.npy")).unwrap(), (vec![2, 3, 4], counting));
    assert_eq!(read_npy_f64(by_numpy("empty_f32.npy")).unwrap(), (vec![0, 3], vec![]));
    let whole = [0.0, 1.0, -1.0, 127.0, -128.0, 85.0].to_vec();
    assert_eq!(read_npy_f64(by_numpy("c_i8.npy")).unwrap(), (vec![2, 3], whole));
    for (name, words) in [("structured.npy", "structured"), ("none.npy", "cannot be opened")] {
        says(read_npy_f64(by_numpy(name)), &[name, words]);
    }
}
