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

use support::squares::{SIZE, data, product, tensor};
use support::{each_device as devices, on_every_device};
use tilewise::{Error, Gpu, Result, Tensor, matmul, wgpu};

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
