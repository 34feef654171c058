//! Frames of an application: what `record_into` and `take_commands` do when all goes well.

use super::{SIZE, data, encoder, on_every_device, product, taken_product, tensor};
use tilewise::gpu::Submission;
use tilewise::{Fill, Tensor, matmul, ops, wgpu};

#[test]
fn a_frame_neither_submits_nor_waits() {
    on_every_device("a frame", |gpu| {
        let [mut a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        gpu.wait().unwrap();
        matmul(&a, &b).unwrap().to_vec().unwrap();
        for frame in 0..20 {
            let before = gpu.stats();
            a.write(&data(frame)).unwrap();
            let mut encoder = encoder(gpu);
            let c = gpu.record_into(&mut encoder, || matmul(&matmul(&a, &b)?, &b)).unwrap();
            gpu.queue().submit([encoder.finish()]);
            let after = gpu.stats();
            assert_eq!((after.submits, after.proofs), (before.submits, before.proofs), "{gpu:?}");
            assert_eq!(after.launches - before.launches, 2);
            let want = product(&product(&data(frame), &data(2)), &data(2));
            assert_eq!(c.to_vec().unwrap(), want, "{gpu:?}, frame {frame}");
        }
    });
}

#[test]
fn a_result_of_one_frame_is_an_operand_of_the_next() {
    on_every_device("dependent frames", |gpu| {
        let one = gpu.tensor(&[1.0f32; 5], [5]).unwrap();
        let mut sum = gpu.tensor(&[0.0f32; 5], [5]).unwrap();
        ops::add(&sum, &one).unwrap().to_vec().unwrap();
        let before = gpu.stats().submits;
        for _ in 0..30 {
            let mut encoder = encoder(gpu);
            // It reads the result of the frame before, and replaces it.
            sum = gpu.record_into(&mut encoder, || ops::add(&sum, &one)).unwrap();
            gpu.queue().submit([encoder.finish()]);
        }
        assert_eq!(gpu.stats().submits, before, "{gpu:?}");
        assert_eq!(sum.to_vec().unwrap(), [30.0; 5], "{gpu:?}");
    });
}

#[test]
fn taken_commands_are_what_was_recorded() {
    on_every_device("take_commands", |gpu| {
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        let c = matmul(&a, &b).unwrap();
        let d = matmul(&c, &b).unwrap();
        drop(c);
        let submits = gpu.stats().submits;
        let commands = gpu.take_commands().unwrap();
        assert_eq!(gpu.stats().submits, submits, "{gpu:?}");
        gpu.queue().submit([commands]);
        assert_eq!(gpu.stats().submits, submits, "{gpu:?}");
        assert_eq!(d.to_vec().unwrap(), product(&product(&data(1), &data(2)), &data(2)), "{gpu:?}");
    });
}

#[test]
fn nothing_recorded_gives_an_empty_command_buffer() {
    on_every_device("empty", |gpu| {
        for _ in 0..3 {
            gpu.queue().submit([gpu.take_commands().unwrap()]);
        }
        drop(gpu.take_commands().unwrap());
        let mut encoder = encoder(gpu);
        gpu.record_into(&mut encoder, || Ok(())).unwrap();
        gpu.queue().submit([encoder.finish()]);
        // An upload alone is not part of them: it goes to the queue with any submission.
        let a = tensor(gpu, 1);
        drop(gpu.take_commands().unwrap());
        assert_eq!(a.to_vec().unwrap(), data(1));
    });
}

#[test]
fn bits_are_those_of_eager_work() {
    on_every_device("bits", |gpu| {
        let random = |seed| gpu.random::<f32>([33, 33], Fill::Uniform, seed).unwrap();
        let [a, b] = [random(1), random(2)];
        let work = || -> tilewise::Result<Tensor<f32>> {
            let c = matmul(&a, &b.t())?;
            ops::softmax(&ops::add(&c, &a)?, 1)
        };
        let bits = |tensor: Tensor<f32>| -> Vec<u32> {
            tensor.to_vec().unwrap().into_iter().map(f32::to_bits).collect()
        };
        let eager = bits(work().unwrap());
        let mut encoder = encoder(gpu);
        let taken = gpu.record_into(&mut encoder, work).unwrap();
        gpu.queue().submit([encoder.finish()]);
        assert_eq!(bits(taken), eager, "{gpu:?}");
        let taken = work().unwrap();
        gpu.queue().submit([gpu.take_commands().unwrap()]);
        assert_eq!(bits(taken), eager, "{gpu:?}");
    });
}

#[test]
fn several_scopes_share_one_encoder() {
    on_every_device("scopes of one encoder", |gpu| {
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        let mut encoder = encoder(gpu);
        let c = gpu.record_into(&mut encoder, || matmul(&a, &b)).unwrap();
        let d = gpu.record_into(&mut encoder, || matmul(&b, &a)).unwrap();
        gpu.queue().submit([encoder.finish()]);
        assert_eq!(c.to_vec().unwrap(), product(&data(1), &data(2)), "{gpu:?}");
        assert_eq!(d.to_vec().unwrap(), product(&data(2), &data(1)), "{gpu:?}");
    });
}

#[test]
fn a_scope_is_not_submitted_by_its_64th_launch() {
    let Some(gpu) = support::own(|options| options.submission = Submission::Batched) else { return };
    for gpu in [Some(gpu), support::bare()].into_iter().flatten() {
        let one = gpu.tensor(&[1.0f32], [1]).unwrap();
        let mut sum = gpu.tensor(&[0.0f32], [1]).unwrap();
        let mut other = gpu.zeros::<f32>([1]).unwrap();
        gpu.wait().unwrap();
        for _ in 0..2 {
            let submits = gpu.stats().submits;
            let mut encoder = encoder(&gpu);
            let recorded = gpu.record_into(&mut encoder, || {
                for _ in 0..100 {
                    other.assign(|| ops::add(&sum, &one))?;
                    sum.assign(|| ops::add(&other, &one))?;
                }
                Ok(())
            });
            recorded.unwrap();
            gpu.queue().submit([encoder.finish()]);
            assert_eq!(gpu.stats().submits, submits, "{:?}", *gpu);
        }
        assert_eq!(sum.to_vec().unwrap(), [400.0], "{:?}", *gpu);
    }
}

#[test]
fn a_device_that_runs_each_launch_at_once_takes_scopes_too() {
    let Some(gpu) = support::own(|options| options.submission = Submission::EachLaunch) else { return };
    let [a, b] = [tensor(&gpu, 1), tensor(&gpu, 2)];
    matmul(&a, &b).unwrap();
    let submits = gpu.stats().submits;
    let (commands, c) = taken_product(&gpu, &a, &b);
    assert_eq!(gpu.stats().submits, submits);
    gpu.queue().submit([commands]);
    assert_eq!(c.to_vec().unwrap(), product(&data(1), &data(2)));
    let d = matmul(&a, &b).unwrap();
    gpu.queue().submit([gpu.take_commands().unwrap()]); // empty
    assert_eq!(d.to_vec().unwrap(), product(&data(1), &data(2)));
}

#[test]
fn the_pass_stands_where_the_application_puts_it() {
    on_every_device("between the application's commands", |gpu| {
        let one = gpu.tensor(&[1.0f32; SIZE], [SIZE]).unwrap();
        let a = gpu.empty::<f32>([SIZE]).unwrap();
        let input = a.buffer().unwrap().0.clone();
        let upload = |value: f32| {
            let buffer = support::app::buffer(
                gpu.device(),
                (4 * SIZE) as u64,
                wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
            );
            gpu.queue().write_buffer(&buffer, 0, bytemuck::cast_slice(&[value; SIZE]));
            buffer
        };
        let [first, last] = [upload(10.0), upload(20.0)];
        let mut encoder = encoder(gpu);
        encoder.copy_buffer_to_buffer(&first, 0, &input, 0, first.size());
        let sum = gpu.record_into(&mut encoder, || ops::add(&a, &one)).unwrap();
        encoder.copy_buffer_to_buffer(&last, 0, &input, 0, last.size());
        gpu.queue().submit([encoder.finish()]);
        assert_eq!(sum.to_vec().unwrap(), [11.0; SIZE], "{gpu:?}");
        assert_eq!(ops::add(&a, &one).unwrap().to_vec().unwrap(), [21.0; SIZE], "{gpu:?}");
    });
}

#[test]
fn an_output_that_is_overwritten_in_each_frame() {
    on_every_device("overwritten in each frame", |gpu| {
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        let mut c = gpu.zeros::<f32>([SIZE; 2]).unwrap();
        gpu.wait().unwrap();
        let submits = gpu.stats().submits;
        for frame in 0..10 {
            let (x, y) = if frame % 2 == 0 { (&a, &b) } else { (&b, &a) };
            let mut encoder = encoder(gpu);
            gpu.record_into(&mut encoder, || c.assign(|| matmul(x, y))).unwrap();
            gpu.queue().submit([encoder.finish()]);
        }
        assert_eq!(gpu.stats().submits, submits, "{gpu:?}");
        assert_eq!(c.to_vec().unwrap(), product(&data(2), &data(1)), "{gpu:?}");
    });
}
