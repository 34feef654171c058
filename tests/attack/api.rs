//! Calls of the API whose form the attacks should not depend on, in one place.

use std::future::Future;
use std::ops::Range;
use std::task::{Context, Poll, Waker};
use tilewise::gpu::{AdoptOptions, Polling};
use tilewise::{Element, Gpu, GpuOptions, Result, Tensor, wgpu};

pub(crate) fn adopt(
    application: (wgpu::Adapter, wgpu::Device, wgpu::Queue),
    options: GpuOptions,
    polling: Polling,
) -> Result<Gpu> {
    let (adapter, device, queue) = application;
    let options = AdoptOptions::from(options);
    let options = match polling {
        Polling::Tilewise => options,
        Polling::Application => options.polled_by_application(),
    };
    Gpu::adopt_with(&adapter, device, queue, options)
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

/// Waits for a future in the thread that polls the device.
pub(crate) fn finish_polling<F: Future>(gpu: &Gpu, future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return output;
        }
        gpu.device().poll(wgpu::PollType::Poll).expect("the device is there");
        std::thread::yield_now();
    }
}
