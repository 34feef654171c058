//! Manners: what an application set on its device stays as it was, nothing of a process is changed, devices and `Gpu`s do
//! not meet each other, and adopting a device again and again leaves nothing behind.

mod callbacks;
mod neighbours;
mod process_state;
mod rounds;
mod threads;

use tilewise::{Error, Fill, Gpu, Result, Tensor, matmul, ops, wgpu};

fn square(gpu: &Gpu) -> Tensor<f32> {
    gpu.random::<f32>([8, 8], Fill::Integers, 1).unwrap()
}

/// Uploads, launches and reads, and calls that fail, one of them inside wgpu.
fn work(gpu: &Gpu) {
    let a = square(gpu);
    let c = matmul(&a, &a.t()).unwrap();
    assert_eq!(c.to_vec().unwrap().len(), 64);
    assert_eq!(pollster::block_on(ops::softmax(&c, 1).unwrap().read()).unwrap().len(), 64);
    assert!(matches!(matmul(&a, &a.slice(0, ..3).unwrap()), Err(Error::Shape { .. })));
    let too_large: Result<Tensor<f32>> = gpu.empty([1 << 20, 1 << 20]);
    assert!(matches!(too_large, Err(Error::Limit { .. } | Error::OutOfMemory { .. })), "{too_large:?}");
    gpu.wait().unwrap();
}

/// A mistake of the application's, of which wgpu tells its handler or its error scope.
fn mistake(device: &wgpu::Device) {
    drop(device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("the application's mistake"),
        size: 3,
        usage: wgpu::BufferUsages::empty(),
        mapped_at_creation: true,
    }));
}
