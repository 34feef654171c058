//! Staged writes in an application's encoder, in taken commands, in a capture, and in a time measurement.

use super::{TINY, on_every_device, values, with_ring};
use pollster::block_on;
use support::failure::{Kind, fails};
use support::watchdog::in_time;
use tilewise::{Gpu, Tensor, matmul, ops, wgpu};

const SIZE: usize = 8;

fn encoder(gpu: &Gpu) -> wgpu::CommandEncoder {
    gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
}

fn frame(gpu: &Gpu, x: &mut Tensor<f32>) -> [Tensor<f32>; 2] {
    let mut encoder = encoder(gpu);
    let products = gpu.record_into(&mut encoder, || {
        x.write_from(|to| to.fill(1.0))?;
        let first = matmul(x, x)?;
        x.write_from(|to| to.fill(2.0))?;
        Ok([first, matmul(x, x)?])
    });
    let products = products.unwrap();
    fails(products[0].to_vec(), Kind::Input, &["have not been submitted"]);
    gpu.queue().submit([encoder.finish()]);
    products
}

#[test]
fn writes_go_into_an_applications_encoder_in_order() {
    on_every_device("an encoder", |gpu| {
        let mut x = gpu.zeros::<f32>([SIZE; 2]).unwrap();
        gpu.wait().unwrap();
        let submits = gpu.stats().submits;
        let products = frame(gpu, &mut x);
        assert_eq!(gpu.stats().submits, submits, "{gpu:?}");
        let values = products.map(|product| product.to_vec().unwrap()[0]);
        assert_eq!(values, [8.0, 32.0], "{gpu:?}");
        gpu.wait().unwrap();
        assert_eq!(gpu.stats().bytes_upload_ring, 0, "{gpu:?}");
    });
}

/// What an encoder holds cannot be waited for, so nothing waits for it, however small the ring is.
#[test]
fn an_encoder_that_is_not_submitted_blocks_nobody() {
    let Some(gpu) = with_ring(TINY) else { return };
    in_time("an encoder that is held", || {
        let mut x = gpu.zeros::<f32>([SIZE; 2]).unwrap();
        let mut y = gpu.zeros::<f32>([SIZE; 2]).unwrap();
        let mut held = encoder(&gpu);
        gpu.record_into(&mut held, || (0..4).try_for_each(|_| x.write_from(|to| to.fill(3.0)))).unwrap();
        assert!(gpu.stats().bytes_upload_ring >= 4 * TINY, "{:?}", gpu.stats());
        for step in 0..4u8 {
            y.write_from(|to| to.fill(step.into())).unwrap();
            let uploaded = block_on(gpu.upload_async(&values::<f32>(500, 1), [500])).unwrap();
            assert_eq!(uploaded.to_vec().unwrap(), values::<f32>(500, 1));
            assert_eq!(y.to_vec().unwrap(), [f32::from(step); SIZE * SIZE]);
        }
        gpu.queue().submit([held.finish()]);
        assert_eq!(x.to_vec().unwrap(), [3.0; SIZE * SIZE]);
        // Commands that are dropped give their bytes back, and what they should have written has no contents.
        let mut dropped = encoder(&gpu);
        gpu.record_into(&mut dropped, || x.write_from(|to| to.fill(4.0))).unwrap();
        drop(dropped);
        assert!(x.to_vec().unwrap_err().to_string().contains("dropped without being submitted"));
        gpu.wait().unwrap();
        assert_eq!(gpu.stats().bytes_upload_ring, 0, "{:?}", gpu.stats());
        x.write_from(|to| to.fill(5.0)).unwrap();
        assert_eq!(x.to_vec().unwrap(), [5.0; SIZE * SIZE]);
    });
}

#[test]
fn taken_commands_contain_the_copies() {
    on_every_device("taken commands", |gpu| {
        let mut x = gpu.zeros::<f32>([SIZE; 2]).unwrap();
        gpu.wait().unwrap();
        x.write_from(|to| to.fill(1.0)).unwrap();
        let product = matmul(&x, &x).unwrap();
        let commands = gpu.take_commands().unwrap();
        fails(x.write_from(|to| to.fill(7.0)), Kind::Input, &["have not been submitted"]);
        gpu.queue().submit([commands]);
        x.write_from(|to| to.fill(2.0)).unwrap();
        assert_eq!(product.to_vec().unwrap()[0], 8.0, "{gpu:?}");
        assert_eq!(x.to_vec().unwrap()[0], 2.0, "{gpu:?}");
    });
}

#[test]
fn a_capture_refuses_them() {
    on_every_device("a capture", |gpu| {
        let x = gpu.zeros::<f32>([SIZE]).unwrap();
        let mut y = gpu.zeros::<f32>([SIZE]).unwrap();
        let captured = gpu.capture(&[x.view()], || {
            y.write_from(|to| to.fill(1.0))?;
            ops::add(&x, &y)
        });
        fails(captured, Kind::Input, &["a replay would not repeat"]);
        let captured = gpu.capture(&[x.view()], || {
            let y = block_on(gpu.upload_async(&[1.0f32; SIZE], [SIZE]))?;
            ops::add(&x, &y)
        });
        fails(captured, Kind::Input, &["a replay would not repeat"]);
    });
}

#[test]
fn a_time_measurement_may_contain_them() {
    on_every_device("a measurement", |gpu| {
        let mut x = gpu.zeros::<f32>([64; 2]).unwrap();
        let timed = gpu.time(|| {
            x.write_from(|to| to.fill(1.0))?;
            let first = matmul(&x, &x)?;
            x.write_from(|to| to.fill(2.0))?;
            let second = matmul(&x, &x)?;
            x.write_from(|to| to.fill(3.0))?;
            Ok((first, second))
        });
        let ((first, second), timing) = timed.unwrap();
        assert!(timing.seconds > 0.0, "{gpu:?}");
        assert_eq!((first.to_vec().unwrap()[0], second.to_vec().unwrap()[0]), (64.0, 256.0));
        assert_eq!(x.to_vec().unwrap()[0], 3.0);
        fails(gpu.time(|| x.write_from(|to| to.fill(1.0))), Kind::Input, &["must launch something"]);
    });
}
