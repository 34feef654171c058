//! Callbacks of the application's that run while a thread is in the closure of a capture, and closures that are left early.

use super::{bits, on_every_device, random};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use support::failure::says;
use tilewise::clifford::layer::{BiasOn, MvLinear};
use tilewise::clifford::{BladeAxis, Multivectors, Signature};
use tilewise::{Error, Gpu, Result, Tensor, matmul, ops, wgpu};

/// Has `work` done by a callback of the queue's once the device has done what is submitted.
fn when_done(gpu: &Gpu, work: impl FnOnce(&Gpu) + Send + 'static) -> Receiver<()> {
    let (done, waiting) = channel();
    let inside = gpu.clone();
    gpu.queue().on_submitted_work_done(move || {
        work(&inside);
        let _ = done.send(());
    });
    waiting
}

fn poll(gpu: &Gpu) {
    gpu.device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
}

/// The closure waits for a callback that another thread runs, which computes and reads for itself.
#[test]
fn a_callback_on_another_thread_computes_during_a_capture() {
    on_every_device("a callback on another thread", |gpu| {
        let [x, weight] = [1, 2].map(|seed| random::<f32>(gpu, &[8, 8], seed));
        let want = bits(&matmul(&x, &weight).unwrap());
        for _ in 0..10 {
            let called = when_done(gpu, |gpu| {
                let a = random::<f32>(gpu, &[8, 8], 3);
                let sum = ops::add(&a, &a).unwrap();
                let want: Vec<f32> = a.to_vec().unwrap().iter().map(|x| x + x).collect();
                assert_eq!(sum.to_vec().unwrap(), want);
                gpu.flush().unwrap();
            });
            let read = x.read();
            let mut replay = gpu
                .capture(&[x.view()], || {
                    let product = matmul(&x, &weight)?;
                    std::thread::scope(|scope| {
                        scope.spawn(|| {
                            poll(gpu);
                            pollster::block_on(read).unwrap();
                        });
                    });
                    called.recv_timeout(Duration::from_secs(60)).expect("the callback ran");
                    Ok(product)
                })
                .unwrap();
            assert_eq!(replay.launches(), 1, "{gpu:?}: the callback's launches are not captured");
            assert_eq!(bits(replay.run(&[x.view()]).unwrap()), want, "{gpu:?}");
        }
    });
}

/// The closure polls, so that a callback runs on its thread: what it launches is captured, what would run is an error.
#[test]
fn a_callback_on_the_thread_of_a_capture_is_a_part_of_it() {
    on_every_device("a callback on the same thread", |gpu| {
        let [x, weight] = [1, 2].map(|seed| random::<f32>(gpu, &[8, 8], seed));
        let want = bits(&matmul(&x, &weight).unwrap());
        gpu.wait().unwrap();
        let (sent, results) = channel::<(Option<Error>, Option<Error>, Result<Tensor<f32>>)>();
        let y = random::<f32>(gpu, &[8, 8], 3);
        let (inside, mut called) = (y.clone(), None);
        let mut replay = gpu
            .capture(&[x.view()], || {
                called = Some(when_done(gpu, move |gpu| {
                    let _ = sent.send((inside.to_vec().err(), gpu.flush().err(), ops::add(&inside, &inside)));
                }));
                let product = matmul(&x, &weight)?;
                gpu.device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
                Ok(product)
            })
            .unwrap();
        called.unwrap().recv_timeout(Duration::from_secs(60)).expect("the callback ran");
        let (read, flushed, sum) = results.recv().unwrap();
        // Another thread of this process may poll the device, and then runs the callback for itself.
        if replay.launches() == 2 {
            says::<()>(Err(read.unwrap()), &["the closure of `capture` cannot"]);
            says::<()>(Err(flushed.unwrap()), &["the closure of `capture` cannot"]);
            says(sum.as_ref().unwrap().to_vec(), &["`capture` runs nothing"]);
        }
        assert_eq!(bits(replay.run(&[x.view()]).unwrap()), want, "{gpu:?}");
        let twice: Vec<f32> = y.to_vec().unwrap().iter().map(|y| y + y).collect();
        assert_eq!(sum.unwrap().to_vec().unwrap(), twice, "{gpu:?}: it has run with the replay");
    });
}

/// The closure given to `read_with` begins a capture, or runs on the values inside one.
#[test]
fn a_capture_begins_where_values_are_read() {
    on_every_device("a capture in read_with", |gpu| {
        let [x, weight] = [1, 2].map(|seed| random::<f32>(gpu, &[8, 8], seed));
        let want = bits(&matmul(&x, &weight).unwrap());
        let captured = pollster::block_on(x.read_with(|values| {
            assert_eq!(values.len(), 64);
            gpu.capture(&[x.view()], || {
                says(pollster::block_on(weight.read_with(|_| ())), &["the closure of `capture` cannot"]);
                says(weight.read_into(&mut [0.0; 64]), &["the closure of `capture` cannot"]);
                matmul(&x, &weight)
            })
        }));
        let mut replay = captured.unwrap().unwrap();
        assert_eq!(bits(replay.run(&[x.view()]).unwrap()), want, "{gpu:?}");
        // A read that began before a capture is polled inside it.
        let read = weight.read();
        let kept = bits(&weight);
        let replay = gpu.capture(&[x.view()], || {
            let values = pollster::block_on(read)?;
            assert_eq!(bytemuck::cast_slice::<f32, u8>(&values), kept);
            matmul(&x, &weight)
        });
        assert_eq!(bits(replay.unwrap().run(&[x.view()]).unwrap()), want, "{gpu:?}");
    });
}

/// The closure drops the last tensors of what it reads and computes.
#[test]
fn a_closure_may_drop_the_last_tensors() {
    on_every_device("the last tensors", |gpu| {
        let x = random::<f32>(gpu, &[8, 8], 1);
        let work = |weight: Tensor<f32>| {
            let product = matmul(&x, &weight)?;
            drop(weight);
            let sum = ops::add(&product, &product)?;
            drop(product);
            drop(ops::mul(&sum, &sum)?);
            Ok(sum)
        };
        let want = bits(&work(random(gpu, &[8, 8], 2)).unwrap());
        let weight = random::<f32>(gpu, &[8, 8], 2);
        let mut replay = gpu.capture(&[x.view()], || work(weight)).unwrap();
        for seed in 0..5 {
            let others: Vec<_> = (0..6).map(|at| random::<f32>(gpu, &[8, 8], 10 * seed + at)).collect();
            assert_eq!(bits(replay.run(&[x.view()]).unwrap()), want, "{gpu:?}");
            drop(others);
        }
    });
}

/// A closure that panics after some launches, and whose panic is caught, leaves the memory as it was.
#[test]
fn a_closure_that_panics_after_launches_gives_everything_back() {
    on_every_device("a panic", |gpu| {
        let x = random::<f32>(gpu, &[8, 8], 1);
        let mut target = random::<f32>(gpu, &[8, 8], 2);
        let before = bits(&target);
        let want = bits(&matmul(&x, &x).unwrap());
        gpu.wait().unwrap();
        let in_use = gpu.stats().bytes_in_use;
        for _ in 0..20 {
            let mut left = None;
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                gpu.capture(&[x.view()], || -> Result<()> {
                    left = Some(matmul(&x, &x)?);
                    let product = matmul(&x, &x)?;
                    ops::add_assign(&mut target, &product)?;
                    panic!("on purpose")
                })
            }));
            assert!(panicked.is_err());
            says(left.unwrap().to_vec(), &["the closure of `capture` panicked"]);
            assert_eq!(bits(&target), before, "nothing has run");
            assert_eq!(bits(&matmul(&x, &x).unwrap()), want, "{gpu:?}");
            let mut replay = gpu.capture(&[x.view()], || matmul(&x, &x)).unwrap();
            assert_eq!(bits(replay.run(&[x.view()]).unwrap()), want, "{gpu:?}");
        }
        gpu.wait().unwrap();
        assert_eq!(gpu.stats().bytes_in_use, in_use, "{gpu:?}");
        target.write(&[0.0; 64]).unwrap();
    });
}

/// The gradient of a bias reads a one that is uploaded.
#[test]
fn the_gradient_of_a_bias_is_captured() {
    on_every_device("the gradient of a bias", |gpu| {
        let algebra = Signature::CL2;
        let weight = random::<f32>(gpu, &[3, 4, 5], 1);
        let layer = MvLinear::builder(algebra, weight).bias(random(gpu, &[5], 2), BiasOn::EveryBlade);
        let layer = layer.build().unwrap();
        let batch = |x: &Tensor<f32>| Multivectors::new(x.clone(), &algebra.blades(), BladeAxis::First);
        let [x, g] = [([4, 6, 4], 3), ([4, 6, 5], 4)].map(|(shape, seed)| random::<f32>(gpu, &shape, seed));
        let work = || {
            let (dx, of) = layer.backward(&batch(&x)?, &batch(&g)?)?;
            let [weight, bias] = ["linear_weight", "linear_bias"].map(|name| of.get(name).unwrap().clone());
            Ok([dx.tensor().clone(), weight, bias])
        };
        let mut replay = gpu.capture(&[x.view(), g.view()], work).unwrap();
        let want = work().unwrap().each_ref().map(bits);
        gpu.trim();
        for _ in 0..5 {
            drop(random::<f32>(gpu, &[1], 9));
            let got = replay.run(&[x.view(), g.view()]).unwrap();
            assert_eq!(got.each_ref().map(bits), want, "{gpu:?}");
        }
    });
}
