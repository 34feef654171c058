//! Buffers of tensors that an application writes and reads itself, between our launches.

use crate::api;
use crate::application::write_behind;
use crate::held::integers;
use crate::support;
use crate::watchdog::doing;
use tilewise::gpu::Submission;
use tilewise::{Gpu, Tensor, ops};

const LEN: usize = 64;

fn devices() -> Vec<Gpu> {
    let batched = support::own(|options| options.submission = Submission::Batched);
    [batched, support::adopted(|_| ()), support::bare()].iter().flatten().map(|gpu| (**gpu).clone()).collect()
}

fn filled(gpu: &Gpu, value: i32) -> Tensor<f32> {
    let tensor = gpu.empty::<f32>([LEN]).unwrap();
    write_behind(gpu, &tensor, &[value; LEN]);
    tensor
}

#[test]
fn what_an_application_writes_into_an_empty_tensor_stays() {
    for gpu in devices() {
        let _doing = doing("an application writes into empty tensors");
        let one = gpu.tensor(&[1.0f32; LEN], [LEN]).unwrap();
        for round in 0..100 {
            // The open recording writes this buffer, which is free from here on.
            drop(ops::add(&one, &one).unwrap());
            let a = filled(&gpu, round);
            let b = ops::add(&a, &one).unwrap();
            assert_eq!(integers(&a.to_vec().unwrap()), [round; LEN], "{gpu:?}, round {round}");
            assert_eq!(integers(&b.to_vec().unwrap()), [round + 1; LEN], "{gpu:?}, round {round}");
        }
    }
}

#[test]
fn what_an_application_writes_comes_after_what_was_recorded_and_before_what_is_next() {
    for gpu in devices() {
        let _doing = doing("an application writes between launches");
        let one = gpu.tensor(&[1.0f32; LEN], [LEN]).unwrap();
        let mut a = ops::add(&one, &one).unwrap();
        for round in 0..100 {
            let before = ops::add(&a, &one).unwrap(); // reads 2
            write_behind(&gpu, &a, &[10 + round; LEN]);
            let after = ops::add(&a, &one).unwrap();
            ops::add_into(&one, &one, &mut a).unwrap();
            let last = ops::add(&a, &a).unwrap();
            for (tensor, want) in [(&last, 4), (&before, 3), (&after, 11 + round), (&a, 2)] {
                assert_eq!(integers(&tensor.to_vec().unwrap()), [want; LEN], "{gpu:?}, round {round}");
            }
        }
    }
}

#[test]
fn an_exported_buffer_is_read_as_recorded() {
    for gpu in devices() {
        let _doing = doing("an application copies between launches");
        let one = gpu.tensor(&[1.0f32; LEN], [LEN]).unwrap();
        for round in 0..50 {
            let sum = ops::add(&one, &one).unwrap();
            let copy = filled(&gpu, round);
            let mut encoder = gpu.device().create_command_encoder(&Default::default());
            let ((from, bytes), (to, into)) = (api::buffer(&sum).unwrap(), api::buffer(&copy).unwrap());
            encoder.copy_buffer_to_buffer(from, bytes.start, to, into.start, (4 * LEN) as u64);
            gpu.queue().submit([encoder.finish()]);
            assert_eq!(integers(&copy.to_vec().unwrap()), [2; LEN], "{gpu:?}, round {round}");
        }
    }
}
