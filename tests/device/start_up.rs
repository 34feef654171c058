//! What opening a device leaves for later: tests of rows, and files.

use std::path::{Path, PathBuf};
use std::sync::{Barrier, mpsc};
use std::time::Duration;
use support::TestGpu;
use tilewise::gemm::GemmKernel;
use tilewise::gpu::{CacheFolder, CoopRow, Verdict};
use tilewise::{Gemm, Gpu, f16, matmul, ops, wgpu};

fn opened(cache: CacheFolder) -> Option<TestGpu> {
    support::own(|options| options.cache = cache)
}

fn product(gpu: &Gpu) {
    let a = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
    assert_eq!(matmul(&a, &a).unwrap().to_vec().unwrap(), [7.0, 10.0, 15.0, 22.0]);
}

fn product_on_matrices(gpu: &Gpu) {
    let a = gpu.tensor(&[f16::ONE; 32 * 32], [32, 32]).unwrap();
    let c = Gemm::new(&a, &a).kernel(GemmKernel::Coop).run().unwrap().to_vec().unwrap();
    assert!(c.into_iter().all(|c| c == 32.0));
}

fn has_tested(gpu: &Gpu) -> bool {
    gpu.driver_times().self_tests > Duration::ZERO
}

/// Whether the device that all tests share has rows that kernels can use.
fn has_rows() -> bool {
    let has = support::gpu().is_some_and(|gpu| gpu.caps().has_tensor_cores());
    if !has {
        println!("skipped: no adapter with cooperative matrices");
    }
    has
}

fn file_in(folder: &Path, is_verdicts: bool) -> Option<PathBuf> {
    let paths = std::fs::read_dir(folder).ok()?.map(|entry| entry.expect("it can be read").path());
    paths.into_iter().find(|path| path.to_string_lossy().contains("verdicts-") == is_verdicts)
}

#[test]
fn what_needs_no_row_tests_none() {
    let Some(gpu) = opened(CacheFolder::Off) else { return };
    support::assert_untouched(&gpu);
    product(&gpu);
    let x = gpu.tensor(&[1.0f32; 64], [8, 8]).unwrap();
    assert_eq!(ops::softmax(&x, 1).unwrap().to_vec().unwrap(), [0.125; 64]);
    // The plan's reasons name kernels on matrices too.
    assert_eq!(Gemm::new(&x, &x).plan().unwrap().steps().len(), 1);
    println!("{:?} {x}", *gpu);
    assert!(!has_tested(&gpu));
    let compiled = gpu.stats().pipelines;
    let has_rows = gpu.caps().has_tensor_cores();
    assert_eq!(has_tested(&gpu), has_rows);
    assert_eq!(gpu.stats().pipelines, compiled, "the tests ran elsewhere");
    let times = gpu.driver_times();
    assert_eq!(gpu.caps().has_tensor_cores(), has_rows);
    assert_eq!(gpu.driver_times(), times, "they ran once");
}

#[test]
fn a_kernel_on_matrices_tests_its_row_and_no_other() {
    if !has_rows() {
        return;
    }
    let folder = support::folder("one-row");
    let gpu = opened(CacheFolder::At(folder.clone())).expect("there was one before");
    assert!(file_in(&folder, true).is_none(), "opening tests nothing");
    product_on_matrices(&gpu);
    let verdicts = || {
        let text = std::fs::read_to_string(file_in(&folder, true).expect("it is cached")).unwrap();
        text.lines().filter(|line| line.ends_with("verified")).map(str::to_owned).collect::<Vec<_>>()
    };
    let [row] = &verdicts()[..] else { panic!("{:?}", verdicts()) };
    assert!(row.contains("f16 x f16 -> f32"), "{row}");
    let tested = gpu.driver_times().self_tests;
    product_on_matrices(&gpu);
    assert_eq!(gpu.driver_times().self_tests, tested, "once");
    let usable = gpu.caps().rows.iter().filter(|row| row.verdict == Verdict::Verified).count();
    assert_eq!(verdicts().len(), usable);
    drop(gpu);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn files_are_read_when_they_are_needed() {
    if !has_rows() {
        return;
    }
    let folder = support::folder("unread");
    let gpu = opened(CacheFolder::At(folder.clone())).expect("there was one before");
    product(&gpu);
    product_on_matrices(&gpu);
    drop(gpu);
    let files: Vec<PathBuf> = [false, true].into_iter().filter_map(|of| file_in(&folder, of)).collect();
    // A folder in place of a file: whoever reads it warns.
    for file in &files {
        std::fs::remove_file(file).unwrap();
        std::fs::create_dir(file).unwrap();
    }
    let warnings = |part: &str| {
        support::warnings_with(&folder.display().to_string())
            .iter()
            .filter(|text| text.contains(part))
            .count()
    };
    let gpu = opened(CacheFolder::At(folder.clone())).unwrap();
    assert_eq!(warnings(""), 0, "opening reads no file");
    product(&gpu);
    let of_pipelines = usize::from(gpu.device().features().contains(wgpu::Features::PIPELINE_CACHE));
    assert_eq!([warnings("compiled kernels"), warnings("")], [of_pipelines; 2]);
    product(&gpu);
    product_on_matrices(&gpu);
    assert_eq!([warnings("verdicts on cooperative"), warnings("")], [1, 1 + of_pipelines]);
    drop(gpu);
    assert_eq!(warnings(""), 1 + of_pipelines);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn several_threads_and_callbacks_may_be_the_first_to_ask() {
    if !has_rows() {
        return;
    }
    let gpu = opened(CacheFolder::Off).expect("there was one before");
    let barrier = Barrier::new(4);
    let ask = |at: usize| {
        barrier.wait();
        if at.is_multiple_of(2) { product_on_matrices(&gpu) } else { assert!(gpu.caps().has_tensor_cores()) }
    };
    std::thread::scope(|scope| (0..4).for_each(|at| _ = scope.spawn(move || ask(at))));
    let (rows, spirv) = (&gpu.caps().rows, gpu.caps().spirv);
    let is_tested = |row: &CoopRow| row.is_spelled_in_wgsl() || spirv && row.is_used_in_spirv();
    // A GPU may have rows that fail, such as those of fp8 whose sums are not of f32.
    assert!(rows.iter().all(|row| (row.verdict != Verdict::Untested) == is_tested(row)), "{}", gpu.caps());

    let gpu = opened(CacheFolder::Off).expect("there was one before");
    let (sender, inside) = mpsc::channel();
    let callback = gpu.clone();
    gpu.queue().submit([]);
    // wgpu runs this where it next submits or polls.
    gpu.queue().on_submitted_work_done(move || {
        product_on_matrices(&callback);
        sender.send(callback.caps().has_tensor_cores()).unwrap();
    });
    let _doing = support::watchdog::doing("a test in a callback");
    gpu.wait().unwrap();
    assert_eq!(inside.recv(), Ok(true));
}

#[test]
fn rows_are_tested_in_a_capture_and_a_frame_on_a_device_of_their_own() {
    if !has_rows() {
        return;
    }
    let gpu = opened(CacheFolder::Off).expect("there was one before");
    let a = gpu.tensor(&[f16::ONE; 32 * 32], [32, 32]).unwrap();
    let mut replay = gpu.capture(&[a.view()], || Gemm::new(&a, &a).kernel(GemmKernel::Coop).run()).unwrap();
    let c = replay.run(&[a.view()]).unwrap();
    assert!(c.to_vec().unwrap().into_iter().all(|c| c == 32.0));
    assert!(has_tested(&gpu));

    let gpu = opened(CacheFolder::Off).expect("there was one before");
    let a = gpu.tensor(&[f16::ONE; 32 * 32], [32, 32]).unwrap();
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    let c = gpu.record_into(&mut encoder, || Gemm::new(&a, &a).kernel(GemmKernel::Coop).run()).unwrap();
    gpu.queue().submit([encoder.finish()]);
    assert!(c.to_vec().unwrap().into_iter().all(|c| c == 32.0));
}

#[test]
fn a_lost_device_is_not_tested() {
    let Some(gpu) = opened(CacheFolder::Off) else { return };
    gpu.device().destroy();
    gpu.wait().expect_err("it is lost");
    assert!(gpu.caps().rows.iter().all(|row| row.verdict == Verdict::Untested));
    assert!(!has_tested(&gpu));
}
