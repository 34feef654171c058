//! The runtime as an enemy uses it: launches that fail in the midst of others, callbacks that call back, uploads without
//! end, absurd sizes, a device that is lost and does not say so.

#[path = "../support/mod.rs"]
mod support;

mod callbacks;
mod failures;
mod loss;
mod memory;
mod sizes;

use std::time::Duration;
use support::TestGpu;
use tilewise::{Element, Fill, Gpu, Tensor, reference};

const SIZE: usize = 8;

fn data(seed: u64) -> Vec<f32> {
    Fill::Integers.values(SIZE * SIZE, seed)
}

fn tensor(gpu: &Gpu, seed: u64) -> Tensor<f32> {
    gpu.tensor(&data(seed), [SIZE; 2]).unwrap()
}

fn product(a: &[f32], b: &[f32]) -> Vec<f32> {
    reference::gemm(a, b, [SIZE; 3]).value.into_iter().map(f32::from_f64).collect()
}

/// An opened device, an adopted one and an adopted one without features.
fn devices() -> Vec<TestGpu> {
    let devices = [support::own(|_| ()), support::adopted(|_| ()), support::bare()];
    devices.into_iter().flatten().collect()
}

/// Runs `work` in a thread of its own, and aborts the process if it is not done in time: a test that hangs says nothing.
fn in_time<R: Send + 'static>(what: &str, work: impl FnOnce() -> R + Send + 'static) -> R {
    let (done, waiting) = std::sync::mpsc::channel();
    let worker = std::thread::spawn(move || {
        let result = work();
        let _ = done.send(());
        result
    });
    if waiting.recv_timeout(Duration::from_secs(300)) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
        eprintln!("{what}: stuck for five minutes");
        std::process::abort();
    }
    worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
