//! Commands that use an application's buffers: what is known of a buffer outlives its tensors.

use super::{SIZE, data, encoder, is_unsubmitted, on_every_device, tensor};
use tilewise::{Gpu, Tensor, ops, wgpu};

/// A buffer of the application, of zeros.
fn buffer(gpu: &Gpu) -> wgpu::Buffer {
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let size = (SIZE * SIZE * 4) as u64;
    support::app::buffer(gpu.device(), size, usage)
}

/// A tensor in it.
fn within(gpu: &Gpu, buffer: &wgpu::Buffer) -> Tensor<f32> {
    Tensor::from_buffer(gpu, buffer.clone(), .., [SIZE; 2]).unwrap()
}

#[test]
fn a_buffer_that_unsubmitted_commands_write_is_known_without_its_tensor() {
    on_every_device("a dropped output", |gpu| {
        let (theirs, a) = (buffer(gpu), tensor(gpu, 1));
        let mut encoder = encoder(gpu);
        let mut out = within(gpu, &theirs);
        gpu.record_into(&mut encoder, || out.assign(|| ops::add(&a, &a))).unwrap();
        drop(out);
        let again = within(gpu, &theirs);
        is_unsubmitted(again.to_vec(), "to_vec", "record_into");
        is_unsubmitted(ops::add(&again, &a), "add", "record_into");
        gpu.queue().submit([encoder.finish()]);
        let doubled: Vec<f32> = data(1).iter().map(|a| a + a).collect();
        assert_eq!(again.to_vec().unwrap(), doubled, "{gpu:?}");
    });
}

#[test]
fn a_buffer_that_unsubmitted_commands_read_is_known_without_its_tensor() {
    on_every_device("a dropped operand", |gpu| {
        let theirs = buffer(gpu);
        let mut operand = within(gpu, &theirs);
        operand.write(&data(1)).unwrap();
        let mut encoder = encoder(gpu);
        let sum = gpu.record_into(&mut encoder, || ops::add(&operand, &operand)).unwrap();
        drop(operand);
        let mut again = within(gpu, &theirs);
        is_unsubmitted(again.write(&data(2)), "write", "record_into");
        gpu.queue().submit([encoder.finish()]);
        again.write(&data(2)).unwrap();
        let doubled: Vec<f32> = data(1).iter().map(|a| a + a).collect();
        assert_eq!(sum.to_vec().unwrap(), doubled, "{gpu:?}");
    });
}

#[test]
fn commands_that_are_never_submitted_keep_no_buffer() {
    on_every_device("dropped commands", |gpu| {
        let theirs = buffer(gpu);
        let [mut before, mut after] = [0; 2];
        for round in 0..200 {
            let mut encoder = encoder(gpu);
            let operand = within(gpu, &theirs);
            let large = gpu.zeros::<f32>([1 << 10]).unwrap();
            gpu.record_into(&mut encoder, || ops::add(&operand, &operand).and(ops::add(&large, &large)))
                .unwrap();
            drop((operand, large));
            if round % 2 == 0 {
                gpu.queue().submit([encoder.finish()]);
            } else {
                drop(encoder);
            }
            gpu.wait().unwrap();
            let bytes = gpu.stats().bytes_in_use;
            (before, after) = (if round == 20 { bytes } else { before }, bytes);
        }
        assert_eq!(before, after, "{gpu:?}");
        let again = within(gpu, &theirs);
        assert_eq!(again.to_vec().unwrap(), [0.0; SIZE * SIZE], "{gpu:?}");
    });
}
