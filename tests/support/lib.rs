//! Shared by the tests: devices or a reason to skip, operands surrounded by poison, and covering sweeps.
#![allow(missing_docs, clippy::missing_errors_doc, reason = "names say enough to the tests, its only users")]

pub mod app;
mod applications;
pub mod batch;
pub mod evaluate;
pub mod example;
pub mod failure;
pub mod families;
pub mod folders;
pub mod forms;
pub mod heads;
pub mod includes;
pub mod laid;
pub mod lanes;
pub mod limits;
mod noop;
pub mod on_view;
pub mod operand;
pub mod operations;
pub mod oracles;
pub mod pairs;
pub mod parallel;
pub mod plans;
pub mod process;
pub mod product;
pub mod progress;
pub mod rounding;
pub mod rows;
pub mod safetensors;
pub mod sketches;
pub mod squares;
pub mod strided;
pub mod turn;
pub mod unchecked;
mod untimed;
pub mod values;
mod vouched;
#[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
pub mod vulkan;
#[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
pub mod vulkan_buffer;
pub mod watchdog;
pub mod wgsl;
pub mod wgsl_attention;
pub mod wgsl_clifford;
pub mod wgsl_conv;
pub mod wgsl_quantised;

pub use applications::{application, stranger};
pub use folders::{folder, root, weights};
pub use noop::{noop, noop_adapter, noop_adapter_with, noop_on, noop_with};
use std::sync::{Mutex, Once, PoisonError};
use tilewise::gemm::{GemmKernel, Tile};
use tilewise::gpu::CoopScalar;
use tilewise::{Gpu, GpuOptions};
pub use turn::turn;
pub use unchecked::unchecked;
pub use untimed::untimed;
pub use vouched::{vouched, without_extensions};

/// A device that tests share: each thread has one, the same whenever it asks. If there is no adapter, prints so and returns None,
/// or fails under `GPU_REQUIRED=1`.
pub fn gpu() -> Option<TestGpu> {
    lanes::of_this_thread().map(TestGpu)
}

/// A device whose matrices of f16 modules of SPIR-V can use, and the smallest tile of `coop_khr` there; says so where it has none.
pub fn coop_khr_of_f16() -> Option<(TestGpu, Tile)> {
    let gpu = gpu()?;
    let rows = gpu.caps().rows_of(CoopScalar::F16, CoopScalar::F32);
    if !gpu.caps().spirv || rows.filter(|row| row.is_used_in_spirv()).count() == 0 {
        println!("unable: {} has no matrices of f16 for modules of SPIR-V", gpu.caps().adapter);
        return None;
    }
    let is_small = |tile: &&Tile| [tile.bm, tile.bn, tile.bk, tile.tm] == [32, 32, 32, 16];
    let tile = GemmKernel::CoopKhr.tiles().iter().find(is_small).expect("the smallest tile");
    Some((gpu, *tile))
}

/// A new device for a test that asserts counters or needs options. `change` edits the environment's options.
pub fn own(change: impl FnOnce(&mut GpuOptions)) -> Option<TestGpu> {
    gpu()?;
    let mut options = GpuOptions::from_env().expect("the environment makes sense");
    change(&mut options);
    Some(TestGpu(Gpu::open_with(options).expect("a second device opens")))
}

/// Adopts a device that was opened as an application would. `change` edits the request.
pub fn adopted(change: impl FnOnce(&mut wgpu::DeviceDescriptor)) -> Option<TestGpu> {
    let (adapter, device, queue) = application(change)?;
    Some(TestGpu(Gpu::adopt(&adapter, device, queue).expect("the environment makes sense")))
}

/// An adopted device without optional features and with the limits that every device has. On it dims pass through the ring, and
/// f16 elements are packed in pairs.
pub fn bare() -> Option<TestGpu> {
    bare_with(|_| ())
}

/// The same, for a test that needs options. `change` edits the environment's options.
pub fn bare_with(change: impl FnOnce(&mut GpuOptions)) -> Option<TestGpu> {
    let (adapter, device, queue) = application(|desc| {
        desc.required_features = wgpu::Features::empty();
        desc.required_limits = wgpu::Limits::default();
        desc.experimental_features = wgpu::ExperimentalFeatures::disabled();
    })?;
    let mut options = GpuOptions::from_env().expect("the environment makes sense");
    change(&mut options);
    Some(TestGpu(Gpu::adopt_with(&adapter, device, queue, options).expect("it can be adopted")))
}

/// Two devices with different storage formats and dims: one with f16 and immediates, one without. On a second driver only the
/// second, because other tests use the first.
pub fn devices() -> Vec<TestGpu> {
    let first = if is_second_driver() { None } else { own(|_| ()) };
    [first, bare()].into_iter().flatten().collect()
}

/// Every kind of device that an application may have: opened by the library, adopted, and adopted without features.
pub fn every_device() -> Vec<TestGpu> {
    [own(|_| ()), adopted(|_| ()), bare()].into_iter().flatten().collect()
}

/// As [`every_device`]; for a second driver, which compiles slowly, one with dims in a ring and without f16.
pub fn each_device() -> Vec<TestGpu> {
    if is_second_driver() { bare().into_iter().collect() } else { every_device() }
}

/// Does this on [each device](each_device), each time within five minutes.
pub fn on_every_device(what: &str, work: impl Fn(&Gpu)) {
    each_device().iter().for_each(|gpu| watchdog::in_time(what, || work(gpu)));
}

/// The sweep that `TILEWISE_SWEEP` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// `once`, the default: every value of each factor.
    Once,
    /// `pairs`: every pair of values.
    Pairs,
    /// `full`, or `3/16` for a part of it: every combination, which are more kernels than a run of all tests has time to compile.
    /// The part is counted from 1; the whole is part 1 of 1.
    Full([usize; 2]),
}

impl Sweep {
    pub fn asked() -> Self {
        std::env::var("TILEWISE_SWEEP").map_or(Self::Once, |text| Self::of(&text))
    }

    fn of(text: &str) -> Self {
        match text {
            "once" => Self::Once,
            "pairs" => Self::Pairs,
            "full" => Self::Full([1, 1]),
            _ => Self::Full(part(text).unwrap_or_else(|| {
                panic!("TILEWISE_SWEEP={text} is neither `once`, `pairs`, `full` nor a part such as 1/16 to 16/16")
            })),
        }
    }
}

fn part(text: &str) -> Option<[usize; 2]> {
    let (part, parts) = text.split_once('/')?;
    let (part, parts) = (part.parse().ok()?, parts.parse().ok()?);
    (1..=parts).contains(&part).then_some([part, parts])
}

/// Whether full sweeps are asked for, or a part of them.
pub fn is_full_sweep() -> bool {
    matches!(Sweep::asked(), Sweep::Full(_))
}

/// The requested rows of a full sweep. None if no full sweep is requested.
pub fn of_full_sweep<T>(rows: impl FnOnce() -> Vec<T>) -> Option<Vec<T>> {
    match Sweep::asked() {
        Sweep::Full(part) => Some(in_part(rows(), part)),
        Sweep::Pairs | Sweep::Once => None,
    }
}

/// The rows of a part. They are drawn by a fixed hash, because rows at equal distances would share values of factors. So every
/// part has some of the many rows for each value of a factor.
fn in_part<T>(rows: Vec<T>, [part, parts]: [usize; 2]) -> Vec<T> {
    let drawn = |row: usize| (row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let is_in = |&(row, _): &(usize, T)| drawn(row) % parts as u64 == part as u64 - 1;
    rows.into_iter().enumerate().filter(is_in).map(|(_, row)| row).collect()
}

#[test]
fn the_parts_of_a_sweep_are_all_of_it() {
    for parts in [1, 4, 8, 16] {
        let rows = |at: usize| in_part((0..2000).collect(), part(&format!("{at}/{parts}")).unwrap());
        let each: Vec<Vec<usize>> = (1..=parts).map(rows).collect();
        for values in [2, 5, 8, 12, 13] {
            assert!(each.iter().all(|rows| (0..values).all(|v| rows.iter().any(|row| row % values == v))));
        }
        let mut rows = each.concat();
        rows.sort_unstable();
        assert_eq!(rows, (0..2000).collect::<Vec<_>>());
    }
    assert_eq!(
        ["once", "pairs", "full", "3/4"].map(Sweep::of),
        [Sweep::Once, Sweep::Pairs, Sweep::Full([1, 1]), Sweep::Full([3, 4])]
    );
    for wrong in ["0/5", "6/5", "1/", "half/2", "twice", ""] {
        assert!(std::panic::catch_unwind(|| Sweep::of(wrong)).is_err(), "{wrong}");
    }
}

/// Whether sweeps are short: each value of a factor once, each variant once.
pub fn is_short_sweep() -> bool {
    Sweep::asked() == Sweep::Once
}

/// Whether tests take few of their cases: in a short sweep on a software driver, whose compiler takes most of a run's time. On a
/// GPU, and on a second driver, a short sweep has them all; so has every other sweep.
pub fn is_brief() -> bool {
    is_short_sweep() && !is_second_driver() && lanes::is_software()
}

/// The cases that a test takes: all, or every `step`-th where tests [take few](is_brief).
pub fn few<T>(cases: impl IntoIterator<Item = T>, step: usize) -> impl Iterator<Item = T> {
    cases.into_iter().step_by(if is_brief() { step } else { 1 })
}

/// Whether all tests have run on another driver before: `TILEWISE_DRIVER=second`.
pub fn is_second_driver() -> bool {
    match std::env::var("TILEWISE_DRIVER").as_deref() {
        Err(std::env::VarError::NotPresent) | Ok("first") => false,
        Ok("second") => true,
        other => panic!("TILEWISE_DRIVER is `first` or `second`, not {other:?}"),
    }
}

/// None on a second driver, which skips the test and prints so. Such a test asserts counts, errors or equal bits; a driver
/// cannot change them without other tests failing too.
pub fn first_driver() -> Option<()> {
    if is_second_driver() {
        println!("left to the first driver: TILEWISE_DRIVER=second");
        return None;
    }
    Some(())
}

/// The value for the requested kind of sweep.
pub fn by_sweep<T>(full: T, pairs: T, once: T) -> T {
    match Sweep::asked() {
        Sweep::Full(_) => full,
        Sweep::Pairs => pairs,
        Sweep::Once => once,
    }
}

/// Runs a generic test with every element type.
#[macro_export]
macro_rules! of_every_type {
    ($test:ident, $($given:expr),+) => {{
        $test::<f32>($($given),+);
        $test::<tilewise::f16>($($given),+);
        $test::<tilewise::bf16>($($given),+);
        $test::<i8>($($given),+);
        $test::<i32>($($given),+);
    }};
}

/// Runs a generic test with every type of reals of 16 or more bits.
#[macro_export]
macro_rules! of_reals {
    ($test:ident, $($given:expr),+) => {{
        $test::<f32>($($given),+);
        $test::<tilewise::f16>($($given),+);
        $test::<tilewise::bf16>($($given),+);
    }};
}

/// Asserts that nothing has been launched, uploaded or allocated on a device.
pub fn assert_untouched(gpu: &Gpu) {
    let mut stats = gpu.stats();
    stats.bytes_free = None; // not a counter, but the budget
    assert_eq!(stats, tilewise::gpu::Stats::default());
}

/// A device that checks, when it is dropped, that the validation layer has reported nothing.
pub struct TestGpu(Gpu);

impl std::ops::Deref for TestGpu {
    type Target = Gpu;
    fn deref(&self) -> &Gpu {
        &self.0
    }
}

impl Drop for TestGpu {
    fn drop(&mut self) {
        assert_no_complaints();
    }
}

/// Asserts that the validation layer has reported nothing, unless the test has failed already.
fn assert_no_complaints() {
    if !std::thread::panicking() {
        let said = COMPLAINTS.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(said.is_empty(), "the validation layer complains:\n{}", said.join("\n"));
    }
}

static COMPLAINTS: Mutex<Vec<String>> = Mutex::new(Vec::new());
static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());
static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The crate's warnings so far that contain these words. Tests run in parallel, so use words that no other test causes.
pub fn warnings_with(words: &str) -> Vec<String> {
    let warnings = WARNINGS.lock().unwrap_or_else(PoisonError::into_inner);
    warnings.iter().filter(|warning| warning.contains(words)).cloned().collect()
}

/// As [`warnings_with`], for the crate's other log messages.
pub fn told_with(words: &str) -> Vec<String> {
    let told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    told.iter().filter(|told| told.contains(words)).cloned().collect()
}

/// Takes the messages of the validation layer so far.
pub fn take_complaints() -> Vec<String> {
    std::mem::take(&mut *COMPLAINTS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Whether the Vulkan validation layer is requested. It reports matrices that the adapter does not list.
pub fn validates() -> bool {
    std::env::var("WGPU_VALIDATION").is_ok_and(|on| on != "0") || cfg!(debug_assertions)
}

/// Collects the reports of the Vulkan validation layer, which wgpu logs, and the crate's warnings. `WGPU_VALIDATION=1` enables
/// the layer.
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
            if layer && record.level() == log::Level::Error && !is_mistaken(&record.args().to_string()) {
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

/// Whether a line of the validation layer's belongs to a complaint that is wrong. wgpu logs a complaint in several lines, of
/// which only the first names the rule.
///
/// NOTE: the layer takes every copy from a buffer to a texture in the same memory for one that overlaps, wherever the two
/// lie in it (KhronosGroup/Vulkan-ValidationLayers#9276, #9537). wgpu drops its complaint of the other direction,
/// `VUID-vkCmdCopyImageToBuffer-pRegions-00184`, for the same reason.
fn is_mistaken(line: &str) -> bool {
    thread_local!(static MISTAKEN: std::cell::Cell<bool> = const { std::cell::Cell::new(false) });
    MISTAKEN.with(|mistaken| {
        if line.contains("VUID-") || line.contains("VALIDATION [") || line.contains("SYNC-HAZARD") {
            mistaken.set(line.contains("VUID-vkCmdCopyBufferToImage-pRegions-00173"));
        }
        mistaken.get()
    })
}
