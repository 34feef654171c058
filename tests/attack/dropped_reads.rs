//! Reads that are dropped while they are under way, and what later reads of other tensors give.

use crate::api;
use crate::held::{elements, integers};
use crate::model::Model;
use crate::random::Random;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use support::watchdog::doing;
use tilewise::gemm::GemmKernel;
use tilewise::{Gemm, Gpu, wgpu};

/// Reads of both kinds together.
const READS: usize = 10_000;

#[test]
fn a_dropped_read_never_gives_its_numbers_to_a_later_one_of_an_opened_device() {
    if let Some(gpu) = support::own(|_| ()) {
        reads_are_dropped_at_random(&gpu, || ());
    }
}

#[test]
fn a_dropped_read_never_gives_its_numbers_to_a_later_one_of_an_adopted_device() {
    if let Some(gpu) = support::adopted(|_| ()) {
        let device = gpu.device().clone();
        reads_are_dropped_at_random(&gpu, || {
            device.poll(wgpu::PollType::Poll).unwrap();
        });
    }
}

fn reads_are_dropped_at_random(gpu: &Gpu, poll: impl Fn()) {
    let mut random = Random::new(&[1]);
    // All of one size, so that their staging buffers are of one class.
    let models: Vec<Model> = (0..16)
        .map(|i| Model { shape: vec![8, 8], values: (0..64).map(|at| 1000 * i + at).collect() })
        .collect();
    let tensors: Vec<_> = models
        .iter()
        .map(|model| gpu.tensor(&elements::<f32>(&model.values), &model.shape).expect("there is room"))
        .collect();
    let heavy = gpu.zeros::<f32>([192, 192]).expect("there is room");
    let (start, mut dropped, mut read) = (Instant::now(), 0, 0);
    while dropped + read < READS {
        let _doing = doing(format!("read {}", dropped + read));
        let busy = read % 100 == 0;
        if busy {
            // The queue is busy for a while: what is dropped now is still under way when the next read begins.
            drop(Gemm::new(&heavy, &heavy).kernel(GemmKernel::Naive).run().expect("there is room"));
            gpu.flush().expect("nothing failed before");
        }
        for _ in 0..random.below(4).max(usize::from(busy)) {
            let mut given_up = Box::pin(tensors[random.below(16)].read());
            if random.chance(50) {
                let _ = given_up.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            }
            dropped += 1;
        }
        let at = random.below(16);
        let mut wanted = Box::pin(tensors[at].read());
        let values = loop {
            // NOTE: polled, not waited for: what completes early is wrong, and a wait would hide it.
            match wanted.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(values) => break values,
                Poll::Pending => poll(),
            }
            std::thread::yield_now();
        };
        let values = integers(&values.expect("nothing failed"));
        assert_eq!(values, models[at].values, "read {} of tensor {at}, after {dropped} dropped ones", read);
        read += 1;
    }
    println!("{dropped} dropped, {read} right, {:.1} s", start.elapsed().as_secs_f64());
    assert!(start.elapsed() < Duration::from_secs(120), "each takes a round trip, no more");
    assert_eq!(
        integers(&api::finish(async { tensors[3].to_vec() }).expect("nothing failed")),
        models[3].values
    );
}
