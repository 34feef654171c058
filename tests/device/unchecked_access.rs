//! Devices without the driver's checks of accesses to buffers: in all else they are as the usual ones.

use crate::work::{Work, multivectors, product, random};
use std::path::Path;
use std::sync::Arc;
use support::TestGpu;
use support::failure::{Kind, fails};
use tilewise::gemm::GemmKernel;
use tilewise::gpu::{AdoptOptions, CacheFolder, Checks, RobustBufferAccess};
use tilewise::sketch::{Sketch, SketchKind};
use tilewise::{Error, Gpu, GpuOptions, Result, f16, matmul, ops};

/// The usual device and one without checks, both for shaders without checks. `change` edits the options of both. None
/// without a Vulkan device.
fn pair(change: impl Fn(&mut GpuOptions)) -> Option<[TestGpu; 2]> {
    if support::gpu()?.caps().backend != "vulkan" {
        println!("skipped: not Vulkan");
        return None;
    }
    let usual = support::own(|options| {
        options.checks = Checks::Trusted;
        change(options);
    })?;
    Some([usual, open(change)?])
}

fn open(change: impl Fn(&mut GpuOptions)) -> Option<TestGpu> {
    support::own(|options| {
        support::unchecked(options);
        change(options);
    })
}

fn sketched(gpu: &Gpu, kind: SketchKind) -> Result<Vec<f32>> {
    Sketch::new(kind, [11, 35], 3)?.left(&random::<f32>(gpu, [35, 9], 1))?.to_vec()
}

const WORK: [(&str, Work); 7] = [
    ("tiled f32", |gpu| product::<f32>(gpu, GemmKernel::Tiled)),
    ("tiled f16", |gpu| product::<f16>(gpu, GemmKernel::Tiled)),
    ("gemv", |gpu| matmul(&random::<f32>(gpu, [1, 67], 1), &random(gpu, [67, 35], 2))?.to_vec()),
    ("sum", |gpu| ops::add(&random::<f32>(gpu, [5, 13], 1), &random(gpu, [5, 13], 2))?.to_vec()),
    ("dense sketch", |gpu| sketched(gpu, SketchKind::Gaussian)),
    ("sparse sketch", |gpu| sketched(gpu, SketchKind::CountSketch)),
    ("geometric product", multivectors),
];

/// A product whose result is known.
fn works(gpu: &Gpu) {
    let a = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
    assert_eq!(matmul(&a, &a).unwrap().to_vec().unwrap(), [7.0, 10.0, 15.0, 22.0]);
}

#[test]
fn caps_differ_in_one_line_and_results_in_no_bit() {
    let Some([usual, unchecked]) = pair(|_| ()) else { return };
    assert_eq!(usual.caps().robust_buffer_access, RobustBufferAccess::On);
    assert!(unchecked.caps().to_string().contains("\n  robust access    off\n"), "{}", unchecked.caps());
    let mut caps = unchecked.caps().clone();
    assert_eq!(caps.robust_buffer_access, RobustBufferAccess::Off);
    caps.robust_buffer_access = RobustBufferAccess::On;
    assert_eq!(support::untimed(&caps), support::untimed(usual.caps()));
    assert_eq!(unchecked.device().features(), usual.device().features());
    assert_eq!(unchecked.device().limits(), usual.device().limits());
    assert_eq!(unchecked.stats(), usual.stats(), "the self-tests ran elsewhere");
    let bits =
        |work: Work, gpu: &Gpu| -> Vec<u32> { work(gpu).unwrap().into_iter().map(f32::to_bits).collect() };
    for (name, work) in WORK {
        assert_eq!(bits(work, &unchecked), bits(work, &usual), "{name}");
    }
    if usual.caps().has_tensor_cores() {
        let work: Work = |gpu| product::<f16>(gpu, GemmKernel::Coop);
        assert_eq!(bits(work, &unchecked), bits(work, &usual), "coop");
    }
    let clock = |gpu: &Gpu| {
        let a = random::<f32>(gpu, [1, 67], 1);
        let (_, timing) = gpu.time(|| ops::add(&a, &a)).unwrap();
        assert!(timing.seconds > 0.0 && timing.seconds < 60.0, "{timing:?}");
        timing.clock
    };
    assert_eq!(clock(&unchecked), clock(&usual));
}

#[test]
fn neither_kind_takes_over_what_was_compiled_or_tested_for_the_other() {
    let folder = support::folder("unchecked");
    let Some([usual, unchecked]) = pair(|options| options.cache = CacheFolder::At(folder.clone())) else {
        return;
    };
    let caps = support::untimed(usual.caps());
    for gpu in [usual, unchecked] {
        works(&gpu);
        assert_eq!(support::untimed(gpu.caps()).rows, caps.rows, "this call tests the rows");
    }
    let files = |folder: &Path, part: &str| {
        let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
        entries.filter(|entry| entry.as_ref().unwrap().path().to_string_lossy().contains(part)).count()
    };
    let kept = if caps.pipeline_cache { 2 } else { 0 };
    let verdicts = if caps.has_tensor_cores() { 2 } else { 0 };
    assert_eq!([files(&folder, "verdicts-"), files(&folder, "")], [verdicts, verdicts + kept]);
    let again = open(|options| options.cache = CacheFolder::At(folder.clone())).unwrap();
    works(&again);
    assert_eq!(support::untimed(again.caps()).rows, caps.rows);
    drop(again);
    assert_eq!(files(&folder, ""), verdicts + kept, "all was found again");
    assert_eq!(support::warnings_with(&folder.display().to_string()), Vec::<String>::new());
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn several_devices_of_both_kinds_work_and_end_in_any_order() {
    let Some([usual, unchecked]) = pair(|_| ()) else { return };
    let others = [open(|_| ()), open(|_| ())].map(Option::unwrap);
    std::thread::scope(|scope| {
        for gpu in [&usual, &unchecked, &others[0], &others[1]] {
            scope.spawn(move || (0..5).for_each(|_| works(gpu)));
        }
    });
    let a = unchecked.tensor(&[1.0f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
    fails(ops::add(&a, &usual.zeros::<f32>([2, 2]).unwrap()), Kind::Gpu, &[]);
    let recorded = matmul(&a, &a).unwrap();
    let [first, second] = others;
    drop((first, usual, unchecked, a));
    works(&second);
    assert_eq!(recorded.to_vec().unwrap(), [7.0, 10.0, 15.0, 22.0], "a tensor keeps its device");
    drop(second);
    assert_eq!(recorded.to_vec().unwrap(), [7.0, 10.0, 15.0, 22.0]);
}

#[test]
fn the_device_is_gone_with_its_last_gpu_and_before_that_its_handles_are_wgpus() {
    let Some([_, gpu]) = pair(|_| ()) else { return };
    let (device, queue) = (gpu.device().clone(), gpu.queue().clone());
    let shared = Arc::new(());
    let callback = Arc::downgrade(&shared);
    device.set_device_lost_callback(move |_, _| assert_eq!(*shared, (), "it is kept"));
    works(&gpu);
    drop(gpu);
    // wgpu's own handles outlive the Gpu, as those of the usual device do.
    let buffer = support::app::buffer(&device, 16, wgpu::BufferUsages::COPY_DST);
    queue.write_buffer(&buffer, 0, &[1; 16]);
    let done = queue.submit([]);
    device.poll(wgpu::PollType::Wait { submission_index: Some(done), timeout: None }).unwrap();
    assert_eq!(callback.strong_count(), 1, "the device is open");
    drop((queue, buffer, device));
    assert_eq!(callback.strong_count(), 0, "the device is closed");
}

#[test]
fn its_wgpu_device_can_be_adopted_and_then_nobody_says_what_its_driver_checks() {
    let Some([usual, gpu]) = pair(|_| ()) else { return };
    let adapters = Gpu::adapters();
    let adapter = adapters.iter().find(|adapter| adapter.get_info().name == gpu.caps().adapter).unwrap();
    let handles = || (gpu.device().clone(), gpu.queue().clone());
    let options = GpuOptions { cache: CacheFolder::Off, ..GpuOptions::default() };
    let (device, queue) = handles();
    let adopted = Gpu::adopt_with(adapter, device, queue, options.clone()).unwrap();
    let mut caps = adopted.caps().clone();
    assert_eq!(caps.robust_buffer_access, RobustBufferAccess::Unknown);
    caps.robust_buffer_access = RobustBufferAccess::On;
    let usual = support::without_extensions(usual.caps());
    assert_eq!(support::untimed(&caps), support::untimed(&usual));
    works(&adopted);
    // Only who opens a device can choose.
    let mut asked = AdoptOptions::from(options);
    support::unchecked(&mut asked.options);
    let (device, queue) = handles();
    fails(Gpu::adopt_with(adapter, device, queue, asked), Kind::Input, &["^Gpu::adopt: buffer_access: "]);
    drop((gpu, adapters));
    works(&adopted);
}

#[test]
fn its_loss_is_an_error_of_every_operation_and_of_no_other_device() {
    let Some([usual, gpu]) = pair(|_| ()) else { return };
    let a = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
    let recorded = matmul(&a, &a).unwrap();
    let pending = matmul(&a, &recorded).unwrap().read();
    let recorded_later = matmul(&a, &recorded).unwrap();
    gpu.device().destroy();
    if let Err(error) = pollster::block_on(pending) {
        assert!(matches!(error, Error::Device(_)), "{error}");
    }
    for (what, error) in [
        ("to_vec", recorded_later.to_vec().err()),
        ("matmul", matmul(&a, &a).and_then(|c| c.to_vec()).err()),
        ("upload", gpu.tensor(&[1.0f32], [1]).and_then(|t| t.to_vec()).err()),
        ("wait", gpu.wait().err()),
    ] {
        let error = error.unwrap_or_else(|| panic!("{what} went through"));
        assert!(error.to_string().contains("lost"), "{what}: {error}");
    }
    drop((recorded, recorded_later, a, gpu));
    works(&usual);
    works(&open(|_| ()).unwrap());
}

#[test]
fn checked_shaders_on_a_device_without_checks_are_an_error() {
    let Some(_) = support::gpu() else { return };
    let mut options = GpuOptions::default();
    support::unchecked(&mut options);
    options.checks = Checks::Checked;
    let error = Gpu::open_with(options).expect_err("the two exclude each other");
    assert!(matches!(error, Error::Input { .. }), "{error}");
    for words in ["Gpu::open: buffer_access: ", "`BufferAccess::unchecked`", "`Checks::Checked`"] {
        assert!(error.to_string().contains(words), "{error}");
    }
}
