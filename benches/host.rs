//! What operations cost the host, on wgpu's `noop` backend, which validates and computes nothing.
//!
//! One run is 1,000 operations of a shape seen before, whose results are dropped, and one wait. `TILEWISE_TABLE=text` or
//! `json` prints the cost of one operation without criterion's statistics, and `TILEWISE_ONLY=replay,frame` selects by the
//! beginnings of names.

use bench::output::{Format, Output, criterion};
use bench::statistics::Spread;
use criterion::Throughput;
use std::cell::RefCell;
use std::time::Instant;
use tilewise::clifford::layer::LayerProduct;
use tilewise::clifford::{BladeAxis, Multivectors, Signature};
use tilewise::{Fill, Gemm, Gpu, GpuOptions, Precision, Result, Tensor, matmul, wgpu};

/// Operations of one run.
const OPERATIONS: u32 = 1000;
/// Runs whose fastest, median and slowest are printed.
const RUNS: usize = 50;
/// Sizes of the product.
const SIZE: usize = 64;
/// Products of the longer replay.
const REPLAYED: u64 = 64;

/// An operation that is measured: its name, its launches, and the call.
type Measured<'a> = (&'static str, u64, &'a dyn Fn());

pub(crate) fn main() {
    let gpu = noop();
    let random = |shape: &[usize], seed| -> Tensor<f32> {
        gpu.random(shape, Fill::Uniform, seed).expect("there is room")
    };
    let (a, b) = (random(&[SIZE, SIZE], 1), random(&[SIZE, SIZE], 2));
    let algebra = Signature::CL3;
    let x = Multivectors::new(random(&[8, 16, 32], 3), &algebra.blades(), BladeAxis::First);
    let (x, layer) = (x.expect("all blades"), LayerProduct::new(algebra));
    let weight = random(&[32, algebra.paths().len()], 4);
    let product = || drop(matmul(&a, &b).expect("it is recorded"));
    let fast = || drop(Gemm::new(&a, &b).precision(Precision::Fast).run().expect("it is recorded"));
    let steerable = || drop(layer.steerable(&x, &x, &weight).expect("it is recorded"));
    let frame = || _ = gpu.queue().submit([encoder(&gpu).finish()]);
    let product_in_a_frame = || {
        let mut encoder = encoder(&gpu);
        drop(gpu.record_into(&mut encoder, || matmul(&a, &b)).expect("it is recorded"));
        gpu.queue().submit([encoder.finish()]);
    };
    let last = RefCell::new(random(&[SIZE, SIZE], 5));
    let dependent_frame = || {
        let mut encoder = encoder(&gpu);
        let work = || matmul(&last.borrow(), &b);
        let next = gpu.record_into(&mut encoder, work).expect("it is recorded");
        gpu.queue().submit([encoder.finish()]);
        last.replace(next);
    };
    let captured =
        gpu.capture(&[a.view()], || (0..REPLAYED).map(|_| matmul(&a, &b)).collect::<Result<Vec<_>>>());
    let replay = RefCell::new(captured.expect("it launches products only"));
    let replayed = || {
        let mut replay = replay.borrow_mut();
        assert_eq!(replay.run(&[a.view()]).expect("the input is the captured one").len() as u64, REPLAYED);
    };
    let captured = gpu.capture(&[a.view()], || matmul(&a, &b));
    let single = RefCell::new(captured.expect("it launches a product"));
    let replayed_product = || {
        let mut single = single.borrow_mut();
        assert_eq!(single.run(&[a.view()]).expect("the input is the captured one").len(), SIZE * SIZE);
    };
    let measured: [Measured<'_>; 8] = [
        ("product", 1, &product),
        ("fast product", 3, &fast),
        ("steerable product", 1, &steerable),
        ("replay of a product", 1, &replayed_product),
        ("replay of 64 products", REPLAYED, &replayed),
        ("frame of an application, without a product", 0, &frame),
        ("frame with a product", 1, &product_in_a_frame),
        ("frame with a product of the frame before", 1, &dependent_frame),
    ];
    let measured = || measured.iter().filter(|(name, ..)| bench::wants(name));
    let output = Output::requested();
    if output.statistics {
        let mut criterion = criterion(20);
        let mut group = criterion.benchmark_group("host");
        group.throughput(Throughput::Elements(OPERATIONS.into()));
        for (name, _, operation) in measured() {
            group.bench_function(format!("1000 times a {name}, one wait"), |bencher| {
                bencher.iter(|| run(&gpu, operation));
            });
        }
        group.finish();
        criterion.final_summary();
    }
    if let Some(format) = output.table {
        measured().for_each(|measured| print(&gpu, measured, format));
    }
}

/// The encoder of an application's frame.
fn encoder(gpu: &Gpu) -> wgpu::CommandEncoder {
    gpu.device().create_command_encoder(&Default::default())
}

/// The thousand operations.
fn run(gpu: &Gpu, operation: &dyn Fn()) {
    (0..OPERATIONS).for_each(|_| operation());
    gpu.wait().expect("nothing was lost");
}

/// Prints the fastest run, the median and the slowest, per operation.
fn print(gpu: &Gpu, &(name, launches, operation): &Measured<'_>, format: Format) {
    let before = gpu.stats().launches;
    run(gpu, operation);
    assert_eq!(gpu.stats().launches - before, launches * u64::from(OPERATIONS), "launches of a {name}");
    let mut micros = [0.0; RUNS];
    for micros in &mut micros {
        let start = Instant::now();
        run(gpu, operation);
        *micros = start.elapsed().as_secs_f64() * 1e6 / f64::from(OPERATIONS);
    }
    let Some(Spread { least: min, median, most: max, .. }) = Spread::of(&micros) else { return };
    if format == Format::Json {
        let cost = serde_json::json!({
            "host": name, "launches": launches, "host_us_min": min, "host_us_median": median, "host_us_max": max,
        });
        println!("{cost}");
    } else {
        println!(
            "host: {min:.2} us per {name} of a shape seen before (median {median:.2}, slowest {max:.2}), {launches} launches"
        );
    }
}

/// An adopted device that computes nothing and needs no driver.
fn noop() -> Gpu {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: wgpu::Backends::NOOP,
        backend_options: wgpu::BackendOptions {
            noop: wgpu::NoopBackendOptions { enable: true, ..Default::default() },
            ..Default::default()
        },
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let adapter =
        pollster::block_on(instance.request_adapter(&Default::default())).expect("noop is built in");
    let opened = pollster::block_on(adapter.request_device(&Gpu::device_descriptor(&adapter)));
    let (device, queue) = opened.expect("the noop device opens");
    Gpu::adopt_with(&adapter, device, queue, GpuOptions::default()).expect("a noop device is never lost")
}
