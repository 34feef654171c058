//! Matrix products on the device's own clock: criterion's statistics, then a table of them as shares of the device's peaks,
//! which are measured in the same run.
//!
//! - `TILEWISE_TABLE=text` prints the table alone, `TILEWISE_TABLE=json` prints it as one JSON object per line.
//! - `TILEWISE_SIZES=256,512,1024` sets the sizes of the cubes.
//! - `TILEWISE_SECONDS=25` sets after how many seconds the table repeats nothing: every product is timed once at least.

use bench::output::{Format, Output, criterion};
use bench::peak::{self, Peaks};
use bench::statistics::{Spread, median};
use bench::{clock, environment, repetitions};
use criterion::{SamplingMode, Throughput};
use serde_json::json;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tilewise::gemm::{GemmKernel, Operand};
use tilewise::gpu::DeviceType;
use tilewise::{F8E4M3, Fill, Gemm, Gpu, Result, Tensor, bf16, f16};

/// Sizes of the cubes, unless `TILEWISE_SIZES` is set.
const SIZES: [usize; 3] = [256, 512, 1024];
/// The cube at which each kernel is measured, and not the plan's choice alone; on a GPU those on matrices at every size.
const PINNED: usize = 512;
/// The largest cube that the plan's choice computes: a larger one is for kernels on matrices.
const MAX_AUTO: usize = 8192;
/// Rounds of the table, in each of which every row is timed once.
const ROUNDS: usize = 5;
/// Seconds that one measurement of the table should take at least.
const ENOUGH: f64 = 0.05;

pub(crate) fn main() -> ExitCode {
    bench::main(|session| {
        let start = Instant::now();
        let seconds = environment::number("TILEWISE_SECONDS")?.unwrap_or(f64::INFINITY);
        let gpu = &session.gpu;
        let (cases, left_out) = cases(gpu)?;
        let table = || Table::measure(gpu, &cases, &left_out, || start.elapsed().as_secs_f64() > seconds);
        let output = Output::requested();
        if output.statistics {
            statistics(&cases);
        }
        match output.table {
            Some(Format::Text) => table()?.print(),
            Some(Format::Json) => table()?.print_json(),
            None => {}
        }
        Ok(true)
    })
}

/// One product: sizes, type and kernel.
struct Case<'a> {
    size: usize,
    dtype: String,
    kernel: &'static str,
    /// Runs this number of products; seconds on the device's clock for all of them.
    seconds: Box<dyn Fn(u64) -> Result<f64> + 'a>,
}

/// A size whose products the device has no room for.
struct LeftOut {
    size: usize,
    why: String,
}

fn cases(gpu: &Gpu) -> Result<(Vec<Case<'_>>, Vec<LeftOut>)> {
    let (mut cases, mut left_out) = (Vec::new(), Vec::new());
    for size in environment::list("TILEWISE_SIZES")?.unwrap_or_else(|| SIZES.to_vec()) {
        match room(gpu, size) {
            Ok(()) => cases.extend(of_size(gpu, size)?),
            Err(why) => left_out.push(LeftOut { size, why }),
        }
    }
    // Compiles every kernel, so that compiling is not timed.
    cases.iter().try_for_each(|case| (case.seconds)(1).map(drop))?;
    Ok((cases, left_out))
}

/// Says why the products of a size have no room on the device.
fn room(gpu: &Gpu, size: usize) -> Result<(), String> {
    let (caps, entries) = (gpu.caps(), (size as u64).saturating_pow(2));
    // Entries of f32 and of i32 have four bytes.
    let largest = entries.saturating_mul(4);
    let allowed = caps.limits.binding_bytes.min(caps.limits.buffer_bytes);
    if largest > allowed {
        return Err(format!("C has {largest} bytes, and a binding of this device at most {allowed}"));
    }
    // Pairs of f32, f16, bf16, i8 and e4m3, and C.
    let all = entries.saturating_mul(2 * (4 + 2 + 2 + 1 + 1) + 4);
    match caps.memory {
        Some(memory) if all > memory / 2 => Err(format!(
            "operands of every type have {all} bytes with C, more than half of the device's memory of {memory}"
        )),
        _ => Ok(()),
    }
}

fn of_size(gpu: &Gpu, size: usize) -> Result<Vec<Case<'_>>> {
    let mut cases = Vec::new();
    let random = |seed| gpu.random::<f32>([size, size], Fill::Uniform, seed);
    let (a, b) = (random(1)?, random(2)?);
    let in_f16 = (a.cast::<f16>()?, b.cast::<f16>()?);
    for (kernel, pin) in
        [("auto", None), ("tiled", Some(GemmKernel::Tiled)), ("naive", Some(GemmKernel::Naive))]
    {
        if size == PINNED || pin.is_none() && size <= MAX_AUTO {
            cases.push(case(gpu, size, kernel, pin, (a.clone(), b.clone())));
            cases.push(case(gpu, size, kernel, pin, in_f16.clone()));
        }
    }
    // Software devices emulate matrices: one size will do.
    if size == PINNED || gpu.caps().device_type != DeviceType::Software {
        let in_8_bits = (a.cast::<F8E4M3>()?, b.cast::<F8E4M3>()?);
        let integers = |seed| gpu.random::<i8>([size, size], Fill::Integers, seed);
        cases.extend(on_matrices(gpu, size, in_f16));
        cases.extend(on_matrices(gpu, size, (a.cast::<bf16>()?, b.cast::<bf16>()?)));
        cases.extend(on_matrices(gpu, size, (integers(1)?, integers(2)?)));
        cases.extend(on_matrices(gpu, size, in_8_bits));
    }
    Ok(cases)
}

/// The kernels on matrices that can multiply these operands here: in WGSL, and in SPIR-V on rows of exact sizes and of multiples.
fn on_matrices<T: Operand>(gpu: &Gpu, size: usize, operands: (Tensor<T>, Tensor<T>)) -> Vec<Case<'_>> {
    let kernels =
        [("coop", GemmKernel::Coop), ("coop_khr", GemmKernel::CoopKhr), ("coop_nv2", GemmKernel::CoopNv2)];
    let can_run = |kernel| Gemm::new(&operands.0, &operands.1).kernel(kernel).plan().is_ok();
    let able = kernels.into_iter().filter(|(_, kernel)| can_run(*kernel));
    able.map(|(name, kernel)| case(gpu, size, name, Some(kernel), operands.clone())).collect()
}

fn case<'a, T: Operand>(
    gpu: &'a Gpu,
    size: usize,
    kernel: &'static str,
    pin: Option<GemmKernel>,
    (a, b): (Tensor<T>, Tensor<T>),
) -> Case<'a> {
    let seconds = move |products: u64| {
        let product = Gemm::new(&a, &b);
        let product = if let Some(kernel) = pin { product.kernel(kernel) } else { product };
        clock::seconds(gpu, products, || product.run().map(drop))
    };
    Case { size, dtype: T::DTYPE.to_string(), kernel, seconds: Box::new(seconds) }
}

impl Case<'_> {
    fn flops(&self) -> f64 {
        2.0 * (self.size as f64).powi(3)
    }

    /// Flop/s of as many products as take long enough together.
    fn rate(&self) -> Result<f64> {
        let once = (self.seconds)(1)?;
        let products = repetitions::estimated(once, ENOUGH, clock::MAX_TOGETHER);
        let seconds = if products == 1 { once } else { (self.seconds)(products)? };
        Ok(self.flops() * products as f64 / seconds)
    }
}

/// Criterion's statistics. Its elements are floating-point operations.
fn statistics(cases: &[Case<'_>]) {
    let mut criterion = criterion(10);
    let mut group = criterion.benchmark_group("gemm");
    group.sampling_mode(SamplingMode::Flat);
    for case in cases {
        group.throughput(Throughput::Elements(2 * (case.size as u64).pow(3)));
        group.bench_function(format!("{}/{}/{}", case.size, case.dtype, case.kernel), |bencher| {
            bencher.iter_custom(|products| {
                let seconds = (case.seconds)(products).expect("it ran before");
                Duration::from_secs_f64(seconds)
            });
        });
    }
    group.finish();
    criterion.final_summary();
}

/// Every case, with the peaks of the same run.
struct Table<'a> {
    gpu: &'a Gpu,
    peaks: Peaks,
    rows: Vec<Row<'a>>,
    left_out: &'a [LeftOut],
    /// Seconds to open one more device.
    opening: f64,
}

/// Flop/s of a case. Other work on the machine can only slow a run down, so the fastest round counts; the median shows how
/// much it was disturbed.
struct Row<'a> {
    case: &'a Case<'a>,
    best: f64,
    median: f64,
}

impl<'a> Table<'a> {
    /// Measures all rounds, or until the time is up, but the first one whole.
    fn measure(
        gpu: &'a Gpu,
        cases: &'a [Case<'a>],
        left_out: &'a [LeftOut],
        time_is_up: impl Fn() -> bool,
    ) -> Result<Self> {
        let mut peaks = Peaks::default();
        let mut rates = vec![Vec::new(); cases.len()];
        for round in 0..ROUNDS {
            if round > 0 && time_is_up() {
                break;
            }
            peaks = peaks.or_higher(peak::measure(gpu)?);
            for (case, rates) in cases.iter().zip(&mut rates) {
                if round == 0 || !time_is_up() {
                    rates.push(case.rate()?);
                }
            }
        }
        let row = |(case, rates): (&'a Case<'a>, Vec<f64>)| {
            Spread::of(&rates).map(|Spread { most, median, .. }| Row { case, best: most, median })
        };
        let rows = cases.iter().zip(rates).filter_map(row).collect();
        Ok(Self { gpu, peaks, rows, left_out, opening: opening()? })
    }

    fn of_peak(&self, row: &Row<'_>) -> f64 {
        row.best / self.peaks.f32
    }

    /// Multiple of the naive kernel's rate for the same product, if that was measured.
    fn of_naive(&self, row: &Row<'_>) -> Option<f64> {
        let same = |other: &&Row<'_>| {
            other.case.kernel == "naive"
                && (other.case.size, &other.case.dtype) == (row.case.size, &row.case.dtype)
        };
        self.rows.iter().find(same).filter(|_| row.case.kernel != "naive").map(|naive| row.best / naive.best)
    }

    fn print(&self) {
        let caps = self.gpu.caps();
        let (flops, bytes) = (scaled(self.peaks.f32, "FLOP/s"), scaled(self.peaks.copy, "B/s"));
        println!("{}, {}", caps.adapter, caps.driver);
        println!("peaks: f32 {flops} by a loop of multiply-adds, {bytes} by a copy");
        for row in &self.rows {
            let Case { kernel, dtype, size, .. } = row.case;
            let (best, median) = (scaled(row.best, "FLOP/s"), scaled(row.median, "FLOP/s"));
            let percent = 100.0 * self.of_peak(row);
            let of_naive = self.of_naive(row).map_or(String::new(), |times| format!(", {times:.1}x naive"));
            println!(
                "{kernel} {dtype} {size}^3: {best} = {percent:.0}% of the peak {flops}{of_naive} (median {median})"
            );
        }
        for LeftOut { size, why } in self.left_out {
            println!("{size}^3: not timed: {why}");
        }
        println!("opening a second Gpu: {:.1} ms", self.opening * 1e3);
    }

    fn print_json(&self) {
        let caps = self.gpu.caps();
        let first = json!({
            "device": caps.adapter,
            "driver": caps.driver,
            "peak_flops": self.peaks.f32,
            "peak_bytes": self.peaks.copy,
            "second_gpu_seconds": self.opening,
        });
        println!("{first}");
        for row in &self.rows {
            let size = row.case.size;
            let line = json!({
                "kernel": row.case.kernel,
                "dtype": row.case.dtype,
                "m": size,
                "n": size,
                "k": size,
                "tflops": row.best * 1e-12,
                "tflops_median": row.median * 1e-12,
                "of_f32_peak": self.of_peak(row),
                "of_naive": self.of_naive(row),
            });
            println!("{line}");
        }
        for LeftOut { size, why } in self.left_out {
            println!("{}", json!({ "m": size, "n": size, "k": size, "left_out": why }));
        }
    }
}

/// Median of the seconds to open one more device while the first is open.
fn opening() -> Result<f64> {
    let mut seconds = [0.0; ROUNDS];
    for seconds in &mut seconds {
        let start = Instant::now();
        let second = Gpu::open()?;
        *seconds = start.elapsed().as_secs_f64();
        drop(second);
    }
    Ok(median(&seconds).unwrap_or_default())
}

/// `12.3 GFLOP/s`, `51 TFLOP/s`.
fn scaled(value: f64, unit: &str) -> String {
    let (scale, prefix) = if value >= 1e12 { (1e12, "T") } else { (1e9, "G") };
    let value = value / scale;
    if value < 20.0 { format!("{value:.1} {prefix}{unit}") } else { format!("{value:.0} {prefix}{unit}") }
}
