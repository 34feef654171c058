//! What a product costs the host: on wgpu's `noop` backend, which validates and computes nothing.
//!
//! One run is 1,000 products of a shape seen before, each result dropped, and one wait. `TILEWISE_TABLE=text` or
//! `json` prints the cost of one product alone, without criterion's statistics.

use criterion::{Criterion, Throughput};
use std::time::{Duration, Instant};
use tilewise::{Fill, Gpu, GpuOptions, Tensor, matmul, wgpu};

/// Products of one run.
const PRODUCTS: u32 = 1000;
/// Runs that the printed line is made of.
const RUNS: usize = 50;
/// Sizes of the product.
const SIZE: usize = 64;

fn main() {
    let gpu = noop();
    let random = |seed| gpu.random::<f32>([SIZE, SIZE], Fill::Uniform, seed).expect("there is room");
    let (a, b) = (random(1), random(2));
    let format = std::env::var("TILEWISE_TABLE").ok();
    if format.is_none() {
        let mut criterion = Criterion::default()
            .sample_size(20)
            .warm_up_time(Duration::from_millis(500))
            .measurement_time(Duration::from_secs(2))
            .without_plots()
            .configure_from_args();
        let mut group = criterion.benchmark_group("host");
        group.throughput(Throughput::Elements(PRODUCTS.into()));
        group.bench_function("1000 products, one wait", |bencher| bencher.iter(|| run(&gpu, &a, &b)));
        group.finish();
        criterion.final_summary();
    }
    if format.is_some() || std::env::args().any(|argument| argument == "--bench") {
        print(&gpu, &a, &b, format.as_deref() == Some("json"));
    }
}

/// The thousand products.
fn run(gpu: &Gpu, a: &Tensor<f32>, b: &Tensor<f32>) {
    for _ in 0..PRODUCTS {
        drop(matmul(a, b).expect("the product is recorded"));
    }
    gpu.wait().expect("nothing was lost");
}

/// The fastest run, the middle one and the slowest, per product.
fn print(gpu: &Gpu, a: &Tensor<f32>, b: &Tensor<f32>, as_json: bool) {
    let before = gpu.stats().launches;
    run(gpu, a, b);
    assert_eq!(gpu.stats().launches - before, u64::from(PRODUCTS), "every product is a launch");
    let mut micros = [0.0; RUNS];
    for micros in &mut micros {
        let start = Instant::now();
        run(gpu, a, b);
        *micros = start.elapsed().as_secs_f64() * 1e6 / f64::from(PRODUCTS);
    }
    micros.sort_by(f64::total_cmp);
    let [min, median, max] = [micros[0], micros[RUNS / 2], micros[RUNS - 1]];
    if as_json {
        let cost = serde_json::json!({ "host_us_min": min, "host_us_median": median, "host_us_max": max });
        println!("{cost}");
    } else {
        println!(
            "host: {min:.2} us per product of a shape seen before (median {median:.2}, slowest {max:.2})"
        );
    }
}

/// A device that computes nothing, adopted: it needs no driver.
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
