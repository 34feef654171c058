//! Several threads: a scope is the thread's own, and others record as usual.

use super::{SIZE, data, encoder, on_every_device, product, taken_product, tensor};
use std::sync::Barrier;
use tilewise::{Tensor, matmul, ops};

#[test]
fn a_scope_is_of_the_thread_that_opens_it() {
    on_every_device("another thread records", |gpu| {
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        let mut encoder = encoder(gpu);
        let (c, d) = gpu
            .record_into(&mut encoder, || {
                let c = matmul(&a, &b)?;
                let other = || {
                    let d = matmul(&b, &a).unwrap();
                    assert_eq!(d.to_vec().unwrap(), product(&data(2), &data(1)), "it submits and waits");
                    super::is_unsubmitted(c.to_vec(), "to_vec", "`record_into`");
                    d
                };
                let d = std::thread::scope(|scope| scope.spawn(other).join().expect("it has checked"));
                Ok((c, d))
            })
            .unwrap();
        drop(d);
        gpu.queue().submit([encoder.finish()]);
        assert_eq!(c.to_vec().unwrap(), product(&data(1), &data(2)), "{gpu:?}");
    });
}

#[test]
fn a_scope_runs_after_what_another_thread_has_recorded() {
    on_every_device("what another thread has recorded", |gpu| {
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        let mut target = gpu.zeros::<f32>([SIZE; 2]).unwrap();
        for round in 0..10 {
            let mut encoder = encoder(gpu);
            let d = gpu.record_into(&mut encoder, || {
                // Recorded meanwhile and not submitted, it writes what the scope reads.
                std::thread::scope(|scope| {
                    let work = || {
                        if round % 2 == 0 {
                            target.assign(|| matmul(&a, &b))
                        } else {
                            target.assign(|| matmul(&b, &a))
                        }
                    };
                    scope.spawn(work).join().expect("no panic")
                })?;
                matmul(&target, &b)
            });
            let d = d.unwrap();
            gpu.queue().submit([encoder.finish()]);
            let written =
                if round % 2 == 0 { product(&data(1), &data(2)) } else { product(&data(2), &data(1)) };
            assert_eq!(d.to_vec().unwrap(), product(&written, &data(2)), "{gpu:?}, round {round}");
        }
    });
}

#[test]
fn a_scope_does_not_overwrite_what_another_thread_has_recorded_to_read() {
    on_every_device("what another thread reads", |gpu| {
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        let mut c = tensor(gpu, 3);
        let mut encoder = encoder(gpu);
        let read = gpu.record_into(&mut encoder, || {
            let read = std::thread::scope(|scope| scope.spawn(|| matmul(&c, &c)).join().expect("no panic"))?;
            c.assign(|| matmul(&a, &b))?;
            Ok(read)
        });
        let read = read.unwrap();
        gpu.queue().submit([encoder.finish()]);
        gpu.wait().unwrap();
        assert_eq!(read.to_vec().unwrap(), product(&data(3), &data(3)), "{gpu:?}");
        assert_eq!(c.to_vec().unwrap(), product(&data(1), &data(2)), "{gpu:?}");
    });
}

#[test]
fn frames_of_several_threads_and_ordinary_work_go_together() {
    on_every_device("several threads", |gpu| {
        let shared = tensor(gpu, 9);
        let start = Barrier::new(4);
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                let (shared, start) = (&shared, &start);
                scope.spawn(move || {
                    start.wait();
                    for round in 0..25 {
                        let seed = 100 * thread + round;
                        let a = tensor(gpu, seed);
                        let want = product(&product(&data(seed), &data(9)), &data(9));
                        let got = if thread % 2 == 0 {
                            let mut encoder = encoder(gpu);
                            let work = || matmul(&matmul(&a, shared)?, shared);
                            let d = gpu.record_into(&mut encoder, work).unwrap();
                            gpu.queue().submit([encoder.finish()]);
                            d
                        } else {
                            matmul(&matmul(&a, shared).unwrap(), shared).unwrap()
                        };
                        assert_eq!(got.to_vec().unwrap(), want, "{gpu:?}, thread {thread}, round {round}");
                    }
                });
            }
        });
    });
}

#[test]
fn commands_are_submitted_by_any_thread() {
    on_every_device("submitted by another thread", |gpu| {
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        let (commands, c) = taken_product(gpu, &a, &b);
        let queue = gpu.queue().clone();
        std::thread::spawn(move || queue.submit([commands])).join().expect("it submits");
        assert_eq!(c.to_vec().unwrap(), product(&data(1), &data(2)), "{gpu:?}");
    });
}

#[test]
fn the_commands_of_one_thread_hold_what_all_have_recorded() {
    on_every_device("recorded by others", |gpu| {
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        let other = std::thread::scope(|scope| scope.spawn(|| ops::add(&a, &b)).join().expect("no panic"));
        let (own, other): (Tensor<f32>, _) = (matmul(&a, &b).unwrap(), other.unwrap());
        gpu.queue().submit([gpu.take_commands().unwrap()]);
        assert_eq!(own.to_vec().unwrap(), product(&data(1), &data(2)), "{gpu:?}");
        let sum: Vec<f32> = data(1).iter().zip(data(2)).map(|(a, b)| a + b).collect();
        assert_eq!(other.to_vec().unwrap(), sum, "{gpu:?}");
    });
}
