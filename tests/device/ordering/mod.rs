//! Work that an application takes and submits itself, with `record_into` and `take_commands`: what runs before what, what
//! is an error until it is submitted, and what becomes of it if it never is. The book's page "Order of work" names these
//! tests.

mod buffers;
mod callbacks;
mod dropped;
mod frames;
mod memory;
mod one_encoder;
mod order;
mod parts;
mod receipts;
mod reuse;
mod rules;
mod threads;
mod writes;

use support::TestGpu;
use support::watchdog::in_time;
use tilewise::{Element, Error, Fill, Gpu, Result, Tensor, matmul, reference, wgpu};

const SIZE: usize = 8;

/// Devices of every kind; for a second driver, which compiles slowly, one with dims in a ring.
fn devices() -> Vec<TestGpu> {
    if support::is_second_driver() { support::bare().into_iter().collect() } else { support::every_device() }
}

/// Does this on these devices, each time within five minutes.
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

fn encoder(gpu: &Gpu) -> wgpu::CommandEncoder {
    gpu.device().create_command_encoder(&Default::default())
}

/// Records a product into commands of the application.
fn taken_product(gpu: &Gpu, a: &Tensor<f32>, b: &Tensor<f32>) -> (wgpu::CommandBuffer, Tensor<f32>) {
    let mut encoder = encoder(gpu);
    let c = gpu.record_into(&mut encoder, || matmul(a, b)).unwrap();
    (encoder.finish(), c)
}

/// Asserts that the call is refused because these commands have not been submitted.
fn is_unsubmitted<T>(result: Result<T>, call: &str, taken_by: &str) {
    let error = result.err().unwrap_or_else(|| panic!("{call} uses what has not been submitted"));
    assert!(matches!(error, Error::Input { .. }), "{error}");
    let said = error.to_string();
    let parts = [call, taken_by, "have not been submitted", "submit the application's command buffer first"];
    assert!(parts.iter().all(|part| said.contains(part)), "{said}");
}

/// Asserts that the call fails with these words.
fn fails_with<T>(result: Result<T>, words: &str) {
    let error = result.err().unwrap_or_else(|| panic!("there must be an error: {words}"));
    assert!(error.to_string().contains(words), "{error}");
}
