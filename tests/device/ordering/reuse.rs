//! Memory that taken work shares with tensors that are made, used or dropped before its submission.

use super::{SIZE, data, encoder, is_unsubmitted, on_every_device, product, tensor};
use std::sync::atomic::{AtomicBool, Ordering};
use tilewise::{Gpu, Tensor, matmul, ops, wgpu};

/// Taken commands, their result, and a tensor without contents. Its buffer is that of a product between, which the commands
/// still write.
fn taken_with_early(
    gpu: &Gpu,
    a: &Tensor<f32>,
    b: &Tensor<f32>,
) -> (wgpu::CommandBuffer, Tensor<f32>, Tensor<f32>) {
    let between = matmul(a, b).unwrap();
    let c = matmul(&between, b).unwrap();
    drop(between);
    let early = gpu.empty::<f32>([SIZE; 2]).unwrap();
    (gpu.take_commands().unwrap(), c, early)
}

#[test]
fn a_tensor_that_shares_memory_with_taken_work_may_be_dropped_before() {
    on_every_device("dropped before the submission", |gpu| {
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        for round in 0..6 {
            let (commands, c, early) = taken_with_early(gpu, &a, &b);
            drop(early);
            // None of these gets the buffer: they run before the commands.
            let uploaded = tensor(gpu, 4);
            let computed = matmul(&b, &a).unwrap();
            if round % 2 == 0 {
                gpu.wait().unwrap();
            }
            gpu.queue().submit([commands]);
            let want = product(&product(&data(1), &data(2)), &data(2));
            assert_eq!(c.to_vec().unwrap(), want, "{gpu:?}, round {round}");
            assert_eq!(uploaded.to_vec().unwrap(), data(4), "{gpu:?}, round {round}");
            assert_eq!(computed.to_vec().unwrap(), product(&data(2), &data(1)), "{gpu:?}, round {round}");
        }
    });
}

#[test]
fn a_tensor_that_shares_memory_with_taken_work_is_not_used_before() {
    on_every_device("used before the submission", |gpu| {
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        let (commands, c, mut early) = taken_with_early(gpu, &a, &b);
        let by = "`take_commands`";
        // To read it would be harmless if it were not for what follows.
        is_unsubmitted(early.to_vec(), "to_vec", by);
        is_unsubmitted(ops::add(&early, &a), "add", by);
        is_unsubmitted(early.buffer(), "buffer", by);
        is_unsubmitted(early.write(&data(3)), "write", by);
        is_unsubmitted(early.assign(|| matmul(&a, &b)), "matmul", by);
        gpu.queue().submit([commands]);
        early.write(&data(3)).unwrap();
        assert_eq!(early.to_vec().unwrap(), data(3), "{gpu:?}");
        assert_eq!(c.to_vec().unwrap(), product(&product(&data(1), &data(2)), &data(2)), "{gpu:?}");
    });
}

#[test]
fn uploads_of_dropped_frames_are_bounded() {
    on_every_device("uploads of dropped frames", |gpu| {
        const LEN: usize = 4 << 20;
        let one = gpu.zeros::<f32>([1]).unwrap().as_strided(&[LEN], &[0], 0).unwrap();
        ops::add(&one, &one).unwrap();
        gpu.wait().unwrap();
        let values = vec![1.0f32; LEN];
        let mut refused = None;
        for _ in 0..8 {
            let mut encoder = encoder(gpu);
            let sum = gpu.record_into(&mut encoder, || ops::add(&gpu.tensor(&values, [LEN])?, &one));
            refused = refused.or(sum.err());
            drop(encoder);
            let staged = gpu.stats().bytes_staged;
            assert!(staged <= 64 << 20, "{gpu:?}: {staged} bytes wait");
        }
        let said = refused.expect("the uploads exceed 64 MiB together").to_string();
        assert!(said.contains("call `flush`"), "{said}");
        gpu.flush().unwrap();
        assert_eq!(gpu.stats().bytes_staged, 0, "{gpu:?}");
    });
}

#[test]
fn a_write_is_not_overtaken_by_what_another_thread_takes() {
    on_every_device("taken while a tensor is written", |gpu| {
        let b = tensor(gpu, 2);
        let mut a = tensor(gpu, 1);
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(Ordering::Acquire) {
                    gpu.queue().submit([gpu.take_commands().unwrap()]);
                }
            });
            let mut seen = 0;
            for round in 0..support::by_sweep(20_000, 2_000, 200) {
                let [before, after] = [10 + round % 2, 11 - round % 2];
                while a.write(&data(before)).is_err() {}
                let Ok(c) = matmul(&a, &b) else { continue };
                // It comes after the product, or is refused because the product is taken.
                while a.write(&data(after)).is_err() {}
                let values = loop {
                    if let Ok(values) = c.to_vec() {
                        break values;
                    }
                };
                assert_eq!(values, product(&data(before), &data(2)), "{gpu:?}, round {round}");
                seen += 1;
            }
            is_done.store(true, Ordering::Release);
            assert!(seen > 0);
        });
    });
}
