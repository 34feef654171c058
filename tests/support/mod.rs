//! What the tests share: a device or a reason to skip, operands with poison around them, a covering sweep.
#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    unused_macros,
    reason = "every test file uses its own part"
)]

pub mod batch;
pub mod example;
pub mod families;
pub mod limits;
pub mod operand;
pub mod oracles;
pub mod pairs;
pub mod parts;
pub mod plans;
pub mod process;
pub mod product;
pub mod rounding;
pub mod safetensors;
pub mod sketches;
pub mod strided;
pub mod values;
pub mod watchdog;
pub mod wgsl;
pub mod wgsl_clifford;

use std::sync::{Mutex, Once, OnceLock, PoisonError};
use tilewise::{Error, Gpu, GpuOptions};

/// The device that all tests of a process share. None, after saying so, where there is no adapter; that is a
/// failure under `GPU_REQUIRED=1`.
pub fn gpu() -> Option<TestGpu> {
    static GPU: OnceLock<Option<Gpu>> = OnceLock::new();
    watch_validation();
    let gpu = GPU.get_or_init(|| match Gpu::open() {
        Ok(gpu) => Some(gpu),
        Err(error @ Error::Unsupported { .. }) => {
            assert!(std::env::var("GPU_REQUIRED").as_deref() != Ok("1"), "GPU_REQUIRED=1, but {error}");
            println!("skipped: no adapter");
            None
        }
        Err(error) => panic!("{error}"),
    });
    gpu.clone().map(TestGpu)
}

/// A device of the test's own, where counters are asserted or options matter; the environment's options, changed.
pub fn own(change: impl FnOnce(&mut GpuOptions)) -> Option<TestGpu> {
    gpu()?;
    let mut options = GpuOptions::from_env().expect("the environment makes sense");
    change(&mut options);
    Some(TestGpu(Gpu::open_with(options).expect("a second device opens")))
}

/// A device as an application would open it, adopted: asked for as `change` says.
pub fn adopted(change: impl FnOnce(&mut wgpu::DeviceDescriptor)) -> Option<TestGpu> {
    let (adapter, device, queue) = application(change)?;
    Some(TestGpu(Gpu::adopt(&adapter, device, queue).expect("the environment makes sense")))
}

/// A device as an application would open it: asked for as `change` says.
pub fn application(
    change: impl FnOnce(&mut wgpu::DeviceDescriptor),
) -> Option<(wgpu::Adapter, wgpu::Device, wgpu::Queue)> {
    let name = gpu()?.caps().adapter.clone();
    let adapter = Gpu::adapters().into_iter().find(|adapter| adapter.get_info().name == name)?;
    let mut desc = Gpu::device_descriptor(&adapter);
    change(&mut desc);
    let (device, queue) =
        pollster::block_on(adapter.request_device(&desc)).expect("the application's device opens");
    Some((adapter, device, queue))
}

/// An adopted device that was asked for nothing: no feature, the limits that every device has. Dims travel through the
/// ring there, and f16 in pairs.
pub fn bare() -> Option<TestGpu> {
    adopted(|desc| {
        desc.required_features = wgpu::Features::empty();
        desc.required_limits = wgpu::Limits::default();
        desc.experimental_features = wgpu::ExperimentalFeatures::disabled();
    })
}

/// The devices that differ in how elements lie in memory and how dims travel: f16 and immediates, and neither. In a short
/// sweep the second alone, as other tests take the first.
pub fn devices() -> Vec<TestGpu> {
    let first = if is_short_sweep() { None } else { own(|_| ()) };
    [first, bare()].into_iter().flatten().collect()
}

/// Every kind of device that an application may have: opened by us, adopted, and adopted without features.
pub fn every_device() -> Vec<TestGpu> {
    [own(|_| ()), adopted(|_| ()), bare()].into_iter().flatten().collect()
}

/// Whether `TILEWISE_SWEEP=full` asks for all there is: more kernels than a run of all tests has time to compile. Or
/// `TILEWISE_SWEEP=3/16` for the third of sixteen parts of it.
pub fn is_full_sweep() -> bool {
    full_sweep_part().is_some()
}

/// Which part of a full sweep is asked for, from 1 on, and of how many; all of it is the only one.
fn full_sweep_part() -> Option<[usize; 2]> {
    let asked = std::env::var("TILEWISE_SWEEP").ok()?;
    if asked == "full" { Some([1, 1]) } else { part_asked(&asked) }
}

fn part_asked(text: &str) -> Option<[usize; 2]> {
    let (part, parts) = text.split_once('/')?;
    let [part, parts] = [part, parts].map(|number| number.parse().unwrap_or(0));
    assert!((1..=parts).contains(&part), "TILEWISE_SWEEP={text} is no part of a sweep: 1/16 to 16/16 are");
    Some([part, parts])
}

/// What of a full sweep's rows is asked for, if it is one.
pub fn of_full_sweep<T>(rows: impl FnOnce() -> Vec<T>) -> Option<Vec<T>> {
    full_sweep_part().map(|part| in_part(rows(), part))
}

/// A part's rows: drawn, the same every time, as rows at equal distances have values in common. Of many rows for each value of
/// a factor, every part has some.
fn in_part<T>(rows: Vec<T>, [part, parts]: [usize; 2]) -> Vec<T> {
    let drawn = |row: usize| (row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let is_in = |&(row, _): &(usize, T)| drawn(row) % parts as u64 == part as u64 - 1;
    rows.into_iter().enumerate().filter(is_in).map(|(_, row)| row).collect()
}

#[test]
fn the_parts_of_a_sweep_are_all_of_it() {
    for parts in [1, 4, 8, 16] {
        let part =
            |part: usize| in_part((0..2000).collect(), part_asked(&format!("{part}/{parts}")).unwrap());
        let each: Vec<Vec<usize>> = (1..=parts).map(part).collect();
        for values in [2, 5, 8, 12, 13] {
            assert!(each.iter().all(|rows| (0..values).all(|v| rows.iter().any(|row| row % values == v))));
        }
        let mut rows = each.concat();
        rows.sort_unstable();
        assert_eq!(rows, (0..2000).collect::<Vec<_>>());
    }
    assert_eq!(part_asked("once"), None);
    for wrong in ["0/5", "6/5", "1/", "half/2"] {
        assert!(std::panic::catch_unwind(|| part_asked(wrong)).is_err(), "{wrong}");
    }
}

/// Whether `TILEWISE_SWEEP=once` asks for each kernel and form once: on a second driver, where another has run them all.
pub fn is_short_sweep() -> bool {
    std::env::var("TILEWISE_SWEEP").as_deref() == Ok("once")
}

/// Whether a second driver goes without this test, and says so: of what it asserts, counts, errors and bits that are the
/// same each time, drivers decide nothing that other tests would miss.
pub fn is_left_to_the_first_driver() -> bool {
    if is_short_sweep() {
        println!("left to the first driver: TILEWISE_SWEEP=once");
    }
    is_short_sweep()
}

/// What a sweep takes: the first if it is full, the last if it is short.
pub fn by_sweep<T>(full: T, usual: T, short: T) -> T {
    if is_full_sweep() {
        full
    } else if is_short_sweep() {
        short
    } else {
        usual
    }
}

/// Runs a test that is generic in its type with every type that tensors have.
macro_rules! of_every_type {
    ($test:ident, $gpu:expr) => {{
        $test::<f32>($gpu);
        $test::<tilewise::f16>($gpu);
        $test::<tilewise::bf16>($gpu);
        $test::<i8>($gpu);
        $test::<i32>($gpu);
    }};
}
pub(crate) use of_every_type;

/// Asserts that nothing has been launched, uploaded or allocated on a device.
pub fn assert_untouched(gpu: &Gpu) {
    let mut stats = gpu.stats();
    stats.bytes_free = None; // the budget, which is no counter
    assert_eq!(stats, tilewise::gpu::Stats::default());
}

/// A device whose end of use checks that the validation layer had nothing to say.
pub struct TestGpu(Gpu);

impl std::ops::Deref for TestGpu {
    type Target = Gpu;
    fn deref(&self) -> &Gpu {
        &self.0
    }
}

impl Drop for TestGpu {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let said = COMPLAINTS.lock().unwrap_or_else(PoisonError::into_inner);
            assert!(said.is_empty(), "the validation layer complains:\n{}", said.join("\n"));
        }
    }
}

static COMPLAINTS: Mutex<Vec<String>> = Mutex::new(Vec::new());
static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());
static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// What this crate has warned of so far with these words in it. Tests run side by side: ask for a name of your own.
pub fn warnings_with(words: &str) -> Vec<String> {
    let warnings = WARNINGS.lock().unwrap_or_else(PoisonError::into_inner);
    warnings.iter().filter(|warning| warning.contains(words)).cloned().collect()
}

/// As [`warnings_with`], of what this crate tells without a warning.
pub fn told_with(words: &str) -> Vec<String> {
    let told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    told.iter().filter(|told| told.contains(words)).cloned().collect()
}

/// What the validation layer has said so far, taken.
pub fn take_complaints() -> Vec<String> {
    std::mem::take(&mut *COMPLAINTS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Whether the Vulkan validation layer is asked for: it complains of matrices that the adapter does not list.
pub fn validates() -> bool {
    std::env::var("WGPU_VALIDATION").is_ok_and(|on| on != "0") || cfg!(debug_assertions)
}

/// Collects what the Vulkan validation layer reports (`WGPU_VALIDATION=1` switches it on), which wgpu logs, and what
/// this crate warns of.
pub fn watch_validation() {
    struct Watch;
    impl log::Log for Watch {
        fn enabled(&self, metadata: &log::Metadata) -> bool {
            let own = metadata.target().starts_with("tilewise");
            metadata.level() <= if own { log::Level::Info } else { log::Level::Warn }
        }
        fn log(&self, record: &log::Record) {
            if !self.enabled(record.metadata()) {
                return;
            }
            let layer = record.target().starts_with("wgpu_hal::vulkan::instance");
            if layer && record.level() == log::Level::Error {
                COMPLAINTS.lock().unwrap_or_else(PoisonError::into_inner).push(record.args().to_string());
            }
            if record.target().starts_with("tilewise") {
                let list = if record.level() == log::Level::Info { &TOLD } else { &WARNINGS };
                list.lock().unwrap_or_else(PoisonError::into_inner).push(record.args().to_string());
            }
            if std::env::var_os("TILEWISE_TEST_LOG").is_some() {
                eprintln!("{} {}: {}", record.level(), record.target(), record.args());
            }
        }
        fn flush(&self) {}
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if log::set_logger(&Watch).is_ok() {
            log::set_max_level(log::LevelFilter::Info);
        }
    });
}

/// A device that computes nothing but validates as the real ones do: host cost and API errors need no driver.
pub fn noop() -> Gpu {
    noop_with(GpuOptions::default(), |_| ())
}

/// As [`noop`], with options and with the device asked for changed.
pub fn noop_with(options: GpuOptions, change: impl FnOnce(&mut wgpu::DeviceDescriptor)) -> Gpu {
    noop_on(&noop_adapter(), options, change)
}

/// As [`noop_with`], on a noop adapter that is there.
pub fn noop_on(
    adapter: &wgpu::Adapter,
    options: GpuOptions,
    change: impl FnOnce(&mut wgpu::DeviceDescriptor),
) -> Gpu {
    let mut desc = Gpu::device_descriptor(adapter);
    change(&mut desc);
    let (device, queue) = pollster::block_on(adapter.request_device(&desc)).expect("the noop device opens");
    Gpu::adopt_with(adapter, device, queue, options).expect("a noop device is never lost")
}

pub fn noop_adapter() -> wgpu::Adapter {
    noop_adapter_with(wgpu::NoopBackendOptions::default())
}

/// A noop adapter that says of itself what `options` say.
pub fn noop_adapter_with(options: wgpu::NoopBackendOptions) -> wgpu::Adapter {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: wgpu::Backends::NOOP,
        backend_options: wgpu::BackendOptions {
            noop: wgpu::NoopBackendOptions { enable: true, ..options },
            ..Default::default()
        },
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    pollster::block_on(instance.request_adapter(&Default::default())).expect("the noop adapter is there")
}

/// A folder of the test's own, not there yet.
pub fn folder(name: &str) -> std::path::PathBuf {
    let name = format!("{name}-{}", std::process::id());
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}
