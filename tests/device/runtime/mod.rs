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
use support::squares::{SIZE, data, product, tensor};
use tilewise::{Fill, Gpu, matmul};

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
