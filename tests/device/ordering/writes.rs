//! What an application does to its buffers by itself, without a call of ours in between: Tilewise does not notice it.

use super::{SIZE, data, encoder, on_every_device, product, tensor};
use support::failure::says;
use tilewise::{Gpu, Tensor, matmul, ops, wgpu};

const BYTES: u64 = (SIZE * SIZE * 4) as u64;

/// A buffer of the application with this contents, and a tensor in it.
fn filled(gpu: &Gpu, seed: u64) -> (wgpu::Buffer, Tensor<f32>) {
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let buffer = support::app::buffer(gpu.device(), BYTES, usage);
    write(gpu, &buffer, seed);
    gpu.queue().submit([]);
    let tensor = Tensor::from_buffer(gpu, buffer.clone(), .., [SIZE; 2]).unwrap();
    (buffer, tensor)
}

/// The application's write. It runs at the beginning of the next submission of anyone.
fn write(gpu: &Gpu, buffer: &wgpu::Buffer, seed: u64) {
    gpu.queue().write_buffer(buffer, 0, bytemuck::cast_slice(&data(seed)));
}

#[test]
fn recorded_work_sees_what_the_application_writes_before_the_flush() {
    on_every_device("a write before and after the flush", |gpu| {
        let square = |seed| product(&data(seed), &data(seed));
        let (buffer, x) = filled(gpu, 1);
        let late = matmul(&x, &x).unwrap();
        write(gpu, &buffer, 2);
        gpu.flush().unwrap();
        assert_eq!(late.to_vec().unwrap(), square(2), "{gpu:?}: the write overtook what was recorded");
        let early = matmul(&x, &x).unwrap();
        gpu.flush().unwrap();
        write(gpu, &buffer, 3);
        gpu.queue().submit([]);
        assert_eq!(early.to_vec().unwrap(), square(2), "{gpu:?}: the flush came first");
        assert_eq!(x.to_vec().unwrap(), data(3), "{gpu:?}");
    });
}

#[test]
fn work_in_an_encoder_sees_what_the_application_writes_before_its_submission() {
    on_every_device("a write before the submission", |gpu| {
        let (buffer, x) = filled(gpu, 1);
        let mut encoder = encoder(gpu);
        let c = gpu.record_into(&mut encoder, || matmul(&x, &x)).unwrap();
        write(gpu, &buffer, 2);
        gpu.queue().submit([encoder.finish()]);
        assert_eq!(c.to_vec().unwrap(), product(&data(2), &data(2)), "{gpu:?}");
    });
}

#[test]
fn the_applications_copy_before_the_flush_has_what_was_there_before() {
    on_every_device("a copy before the flush", |gpu| {
        let (buffer, mut c) = filled(gpu, 1);
        let (copied, copy) = filled(gpu, 2);
        let a = tensor(gpu, 3);
        matmul(&a, &a).unwrap().to_vec().unwrap();
        c.assign(|| ops::add(&a, &a)).unwrap(); // recorded, not submitted
        let mut encoder = encoder(gpu);
        encoder.copy_buffer_to_buffer(&buffer, 0, &copied, 0, BYTES);
        gpu.queue().submit([encoder.finish()]);
        assert_eq!(copy.to_vec().unwrap(), data(1), "{gpu:?}: the copy came first");
        let doubled: Vec<f32> = data(3).iter().map(|a| a + a).collect();
        assert_eq!(c.to_vec().unwrap(), doubled, "{gpu:?}");
    });
}

#[test]
fn two_adoptions_know_nothing_of_each_others_work_on_one_buffer() {
    let Some((adapter, device, queue)) = support::application(|_| ()) else { return };
    let adopt = || Gpu::adopt(&adapter, device.clone(), queue.clone()).unwrap();
    let [gpu, other] = [adopt(), adopt()];
    let (buffer, mut x) = filled(&gpu, 1);
    let theirs = Tensor::<f32>::from_buffer(&other, buffer, .., [SIZE; 2]).unwrap();
    let a = tensor(&gpu, 3);
    x.assign(|| ops::add(&a, &a)).unwrap();
    assert_eq!(theirs.to_vec().unwrap(), data(1), "the sum is recorded only");
    gpu.flush().unwrap();
    assert_eq!(theirs.to_vec().unwrap(), x.to_vec().unwrap());
}

#[test]
fn a_destroyed_buffer_fails_record_into_and_the_next_flush() {
    on_every_device("a destroyed buffer", |gpu| {
        let ((buffer, x), a) = (filled(gpu, 1), tensor(gpu, 3));
        buffer.destroy();
        let error = gpu.record_into(&mut encoder(gpu), || matmul(&a, &x)).unwrap_err().to_string();
        assert!(error.contains("destroyed"), "{error}");
        // The kernel is named by its shader, without the parameters, so that the cause is easy to find.
        assert!(error.contains("gemm/") && error.len() < 300, "{error}");
        let sum = ops::add(&a, &x).unwrap();
        says(gpu.flush(), &["destroyed"]);
        assert!(sum.to_vec().is_err(), "{gpu:?}");
        gpu.flush().unwrap();
        assert_eq!(a.to_vec().unwrap(), data(3), "{gpu:?}");
    });
}
