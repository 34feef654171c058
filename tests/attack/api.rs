//! Calls of the API whose form the attacks should not depend on, in one place.

use std::future::Future;
use std::ops::Range;
use tilewise::gpu::{AdoptOptions, Polling};
use tilewise::{Element, Gpu, GpuOptions, Result, Tensor, wgpu};

pub(crate) fn adopt(
    application: (wgpu::Adapter, wgpu::Device, wgpu::Queue),
    options: GpuOptions,
    polling: Polling,
) -> Result<Gpu> {
    let (adapter, device, queue) = application;
    Gpu::adopt_with(&adapter, device, queue, AdoptOptions { options, polling })
}

/// The buffer of a tensor, for work of the application: all recorded work that touches it is submitted.
pub(crate) fn buffer<T: Element>(tensor: &Tensor<T>) -> Result<(&wgpu::Buffer, Range<u64>)> {
    tensor.buffer()
}

/// Gives back what the pool keeps.
pub(crate) fn trim(gpu: &Gpu) {
    gpu.trim();
}

/// Waits for a future as the plainest executor does.
pub(crate) fn finish<F: Future>(future: F) -> F::Output {
    pollster::block_on(future)
}
