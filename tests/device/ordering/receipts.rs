//! How this crate learns whether a submission of the application was accepted: it is right whatever the memory contained
//! before, and however many threads ask at the same time.

use super::{data, on_every_device, product, taken_product, tensor};
use std::sync::{Arc, Barrier};
use support::app::refused_commands;
use support::failure::says;
use tilewise::{Gpu, wgpu};

/// What is refused in this test is not reported anywhere else.
fn ignore_errors(gpu: &Gpu) {
    gpu.device().on_uncaptured_error(Arc::new(|_| ()));
}

#[test]
fn a_refused_submission_is_noticed_whatever_the_memory_contained() {
    on_every_device("memory of earlier receipts", |gpu| {
        ignore_errors(gpu);
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        // More at a time than are kept for later work, so that the memory of some is used again.
        let many = || -> Vec<_> { (0..40).map(|_| taken_product(gpu, &a, &b)).collect() };
        for _ in 0..2 {
            for (commands, c) in many() {
                gpu.queue().submit([commands]);
                assert_eq!(c.to_vec().unwrap(), product(&data(1), &data(2)), "{gpu:?}");
            }
            gpu.device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
        }
        for (commands, c) in many() {
            // wgpu has accepted the first when it comes to the second.
            gpu.queue().submit([commands, refused_commands(gpu)]);
            says(c.to_vec(), &["refused when they were submitted"]);
        }
    });
}

#[test]
fn a_receipt_that_is_refused_many_times_stays_right() {
    on_every_device("refused many times", |gpu| {
        ignore_errors(gpu);
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        let accepted = |gpu: &Gpu| {
            let (commands, c) = taken_product(gpu, &a, &b);
            gpu.queue().submit([commands]);
            assert_eq!(c.to_vec().unwrap(), product(&data(1), &data(2)), "{gpu:?}");
            gpu.device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
        };
        accepted(gpu);
        // As many as there are numbers for receipts.
        for _ in 0..support::by_sweep(4097, 4097, 64) {
            let (commands, c) = taken_product(gpu, &a, &b);
            gpu.queue().submit([refused_commands(gpu), commands]);
            says(c.to_vec(), &["refused when they were submitted"]);
        }
        accepted(gpu);
    });
}

#[test]
fn threads_that_ask_at_the_same_time_get_the_same_answer() {
    const THREADS: usize = 4;
    on_every_device("threads that ask", |gpu| {
        ignore_errors(gpu);
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        for round in 0..support::by_sweep(5000, 500, 50) {
            let is_refused = round % 2 == 0;
            let (commands, c) = taken_product(gpu, &a, &b);
            if is_refused {
                gpu.queue().submit([refused_commands(gpu), commands]);
            } else {
                gpu.queue().submit([commands]);
            }
            let start = Barrier::new(THREADS);
            std::thread::scope(|scope| {
                for thread in 0..THREADS {
                    let (start, a, b, c) = (&start, &a, &b, &c);
                    scope.spawn(move || {
                        start.wait();
                        if thread % 2 == 0 {
                            // Its work may get the receipt that the others look at.
                            drop(tilewise::matmul(c, b));
                            drop(taken_product(gpu, a, b));
                        }
                        match c.to_vec() {
                            Ok(values) => {
                                assert!(!is_refused, "{gpu:?}, round {round}: nothing was computed");
                                assert_eq!(values, product(&data(1), &data(2)), "{gpu:?}");
                            }
                            Err(error) => assert!(is_refused, "{gpu:?}, round {round}: {error}"),
                        }
                    });
                }
            });
        }
    });
}
