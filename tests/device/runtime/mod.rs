//! The runtime as an enemy uses it: launches that fail in the midst of others, callbacks that call back, uploads without
//! end, absurd sizes, a device that is lost and does not say so.

mod budgets;
mod callbacks;
mod exported;
mod failures;
mod loss;
mod memory;
mod refused;
mod sizes;

use std::time::{Duration, Instant};
use support::every_device as devices;
use support::watchdog::in_time;
use tilewise::{Element, Fill, Gpu, Tensor, matmul, reference};

const SIZE: usize = 8;

/// Does this on a device of every kind, each time within five minutes.
fn on_every_device(what: &str, work: impl Fn(&Gpu)) {
    devices().iter().for_each(|gpu| in_time(what, || work(gpu)));
}

fn data(seed: u64) -> Vec<f32> {
    Fill::Integers.values(SIZE * SIZE, seed)
}

fn tensor(gpu: &Gpu, seed: u64) -> Tensor<f32> {
    gpu.tensor(&data(seed), [SIZE; 2]).unwrap()
}

fn product(a: &[f32], b: &[f32]) -> Vec<f32> {
    reference::gemm(a, b, [SIZE; 3]).value.into_iter().map(f32::from_f64).collect()
}

/// Queues products that take a second or so altogether.
fn long_work(gpu: &Gpu) {
    let large = gpu.random::<f32>([512; 2], Fill::Uniform, 1).unwrap();
    matmul(&large, &large).unwrap().to_vec().unwrap();
    let begun = Instant::now();
    matmul(&large, &large).unwrap().to_vec().unwrap();
    let (each, mut left) = (begun.elapsed(), Duration::from_millis(1200));
    while let Some(rest) = left.checked_sub(each) {
        drop(matmul(&large, &large).unwrap());
        left = rest;
    }
    gpu.flush().unwrap();
}
