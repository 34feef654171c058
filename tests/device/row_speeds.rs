//! The speeds of rows of cooperative matrices: when they are measured, what is kept of them, and what a slow row is used for.

use crate::verify::{file_in, forged, open_at, rows_are_listed, works};
use support::wgsl;
use tilewise::gemm::GemmKernel;
use tilewise::gpu::{CacheFolder, CoopRow, CoopScalar, DeviceType, RowSpeed, Verdict};
use tilewise::planning::Problem;
use tilewise::planning::gemm::GemmTypes;
use tilewise::{Caps, DType, Fill, Gemm, f16, reference};

fn line(row: &CoopRow, speed: &str) -> String {
    let row = row.to_string();
    let (row, _) = row.rsplit_once(", ").expect("its verdict is behind it");
    format!("speed of {row}, {speed}\n")
}

/// The row of products of f16 in WGSL, if the device has one.
fn of_f16(caps: &Caps) -> Option<&CoopRow> {
    let is_it =
        |row: &&CoopRow| row.is_spelled_in_wgsl() && (row.a, row.c) == (CoopScalar::F16, CoopScalar::F32);
    caps.rows.iter().filter(is_it).max_by_key(|row| row.m)
}

#[test]
fn rows_that_pass_their_test_are_timed_and_reported() {
    if !rows_are_listed() {
        return;
    }
    let folder = support::folder("timed");
    let gpu = open_at(&folder);
    let text = std::fs::read_to_string(file_in(&folder)).unwrap();
    for row in &gpu.caps().rows {
        assert_eq!(row.speed.is_some(), row.verdict == Verdict::Verified, "{row}");
        let Some(speed) = row.speed else { continue };
        assert!(text.contains(&line(row, &speed.to_string())), "{row}: {text}");
        let reported = format!("{row}, {speed} times as fast as scalar arithmetic");
        assert!(gpu.caps().to_string().contains(&reported), "{}", gpu.caps());
    }
    assert_eq!(open_at(&folder).caps(), gpu.caps(), "another run takes them from the file");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_slow_row_is_used_by_pinned_kernels_only() {
    if !rows_are_listed() {
        return;
    }
    let folder = support::folder("slow");
    let caps = open_at(&folder).caps().clone();
    let Some(row) = of_f16(&caps) else { return };
    let text = std::fs::read_to_string(file_in(&folder)).unwrap();
    let measured = line(row, &row.speed.expect("it was timed").to_string());
    std::fs::write(file_in(&folder), forged(&text, &measured, &line(row, "0.2"))).unwrap();
    let gpu = open_at(&folder);
    let slow = *of_f16(gpu.caps()).expect("it is listed still");
    assert_eq!((slow.verdict, slow.speed), (Verdict::Verified, RowSpeed::new(0.2)), "{}", gpu.caps());
    assert!(gpu.caps().coop(slow.m, slow.a, slow.c).is_ok() && gpu.caps().has_tensor_cores());
    works(&gpu);
    let shape @ [m, n, k] = [33, 24, 40];
    let (a, b) = (Fill::Integers.values::<f16>(m * k, 1), Fill::Integers.values::<f16>(k * n, 2));
    let want = reference::gemm(&a, &b, shape).value;
    let (a, b) = (gpu.tensor(&a, [m, k]).unwrap(), gpu.tensor(&b, [k, n]).unwrap());
    match Gemm::new(&a, &b).kernel(GemmKernel::Coop).run() {
        Ok(c) => assert!(c.to_vec().unwrap().into_iter().map(f64::from).eq(want)),
        Err(error) => assert!(!error.to_string().contains("as fast as"), "{error}"),
    }
    // What plans would make of it if it were a GPU's.
    let as_gpu = gpu.caps().clone().planned_for(DeviceType::Discrete);
    let plan = wgsl::plain([2048; 3], GemmTypes::new(DType::F16, DType::F32)).explain(&as_gpu).unwrap();
    assert_ne!(plan.steps()[0].kernel.shader(), GemmKernel::Coop.shader(), "{plan}");
    let why = format!("{slow}, 0.2 times as fast as scalar arithmetic: for pinned kernels only");
    assert!(plan.reasons().join("\n").contains(&why), "{plan}");
    assert!(as_gpu.to_string().contains(&why), "{as_gpu}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_row_whose_speed_is_missing_or_damaged_is_timed_again() {
    if !rows_are_listed() {
        return;
    }
    let folder = support::folder("timed-again");
    let caps = open_at(&folder).caps().clone();
    let text = std::fs::read_to_string(file_in(&folder)).unwrap();
    let timed = caps.rows.iter().find(|row| row.speed.is_some()).expect("a row was timed");
    let measured = line(timed, &timed.speed.expect("it was timed").to_string());
    for damaged in [String::new(), line(timed, "fast"), line(timed, "-1"), line(timed, "NaN")] {
        std::fs::write(file_in(&folder), forged(&text, &measured, &damaged)).unwrap();
        let gpu = open_at(&folder);
        assert_eq!(support::untimed(gpu.caps()), support::untimed(&caps), "{damaged}");
        assert!(gpu.caps().rows.iter().all(|row| row.speed.is_some() == (row.verdict == Verdict::Verified)));
        let text = std::fs::read_to_string(file_in(&folder)).unwrap();
        assert!(damaged.is_empty() || !text.contains(&damaged), "{text}");
        assert_eq!(open_at(&folder).caps(), gpu.caps(), "{damaged}");
    }
    assert_eq!(support::warnings_with(&folder.display().to_string()), Vec::<String>::new());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn no_row_is_timed_where_the_speed_of_another_device_is_assumed() {
    if !rows_are_listed() {
        return;
    }
    let folder = support::folder("assumed");
    drop(open_at(&folder));
    let gpu = support::own(|options| {
        options.cache = CacheFolder::At(folder.clone());
        options.assume.device_type = Some(DeviceType::Discrete);
    });
    let gpu = gpu.expect("there was one before");
    assert!(gpu.caps().rows.iter().any(|row| row.verdict == Verdict::Verified), "{}", gpu.caps());
    assert!(gpu.caps().rows.iter().all(|row| row.speed.is_none()), "{}", gpu.caps());
    std::fs::remove_dir_all(&folder).unwrap();
}
