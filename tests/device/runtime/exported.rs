//! Buffers of tensors that an application writes and reads itself, between our launches.

use super::devices;
use tilewise::{Gpu, Tensor, ops};

const LEN: usize = 64;

/// Writes one value into all of a tensor as an application does, behind all that is recorded of it.
fn write_behind(gpu: &Gpu, tensor: &Tensor<f32>, value: f32) {
    let (buffer, bytes) = tensor.buffer().unwrap();
    gpu.queue().write_buffer(buffer, bytes.start, bytemuck::cast_slice(&[value; LEN]));
    gpu.queue().submit([]);
}

fn filled(gpu: &Gpu, value: f32) -> Tensor<f32> {
    let tensor = gpu.empty([LEN]).unwrap();
    write_behind(gpu, &tensor, value);
    tensor
}

#[test]
fn what_an_application_writes_comes_after_what_was_recorded_and_before_what_is_next() {
    for gpu in devices() {
        let one = gpu.tensor(&[1.0f32; LEN], [LEN]).unwrap();
        let mut a = ops::add(&one, &one).unwrap();
        for round in (0..100u8).map(f32::from) {
            let before = ops::add(&a, &one).unwrap(); // reads 2
            write_behind(&gpu, &a, 10.0 + round);
            let after = ops::add(&a, &one).unwrap();
            a.assign(|| ops::add(&one, &one)).unwrap();
            let last = ops::add(&a, &a).unwrap();
            for (tensor, want) in [(&last, 4.0), (&before, 3.0), (&after, 11.0 + round), (&a, 2.0)] {
                assert_eq!(tensor.to_vec().unwrap(), [want; LEN], "{:?}, round {round}", *gpu);
            }
        }
    }
}

#[test]
fn an_exported_buffer_is_read_as_recorded() {
    for gpu in devices() {
        let one = gpu.tensor(&[1.0f32; LEN], [LEN]).unwrap();
        for round in (0..50u8).map(f32::from) {
            let sum = ops::add(&one, &one).unwrap();
            let copy = filled(&gpu, round);
            let mut encoder = gpu.device().create_command_encoder(&Default::default());
            let ((from, bytes), (to, into)) = (sum.buffer().unwrap(), copy.buffer().unwrap());
            encoder.copy_buffer_to_buffer(from, bytes.start, to, into.start, (4 * LEN) as u64);
            gpu.queue().submit([encoder.finish()]);
            assert_eq!(copy.to_vec().unwrap(), [2.0; LEN], "{:?}, round {round}", *gpu);
        }
    }
}
