//! Callbacks of the application's that call us: inside our submissions, inside polls, on our own waiting thread.

use super::support::watchdog::doing;
use super::{data, devices, in_time, product, tensor};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tilewise::{Error, Gpu, matmul, ops, wgpu};

/// What a callback does: everything that submits, waits or records.
fn call_us(gpu: &Gpu) {
    let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
    let want = product(&data(1), &data(2));
    gpu.flush().unwrap();
    let c = matmul(&a, &b).unwrap();
    assert_eq!(c.to_vec().unwrap(), want);
    assert_eq!(pollster::block_on(matmul(&a, &b).unwrap().read()).unwrap(), want);
    drop(c.read());
    gpu.wait().unwrap();
    // Another thread may submit meanwhile, which `time` refuses.
    match gpu.time(|| matmul(&a, &b)) {
        Ok((c, _)) => assert_eq!(c.to_vec().unwrap(), want),
        Err(error) => assert!(matches!(error, Error::Input { .. }), "{error}"),
    }
    gpu.trim();
    assert!(gpu.stats().submits > 0);
}

/// Has `work` done by a callback of the queue's, behind work of our own.
fn when_done(gpu: &Gpu, work: impl FnOnce(&Gpu) + Send + 'static) -> Receiver<()> {
    let a = tensor(gpu, 3);
    let _ = matmul(&a, &a).unwrap();
    gpu.flush().unwrap();
    let (done, waiting) = channel();
    let inside = gpu.clone();
    gpu.queue().on_submitted_work_done(move || {
        work(&inside);
        let _ = done.send(());
    });
    waiting
}

/// Whether the callback is still to come; one that panicked never will.
fn still_to_come(called: &Receiver<()>, patience: Duration) -> bool {
    match called.recv_timeout(patience) {
        Ok(()) => false,
        Err(RecvTimeoutError::Timeout) => true,
        Err(RecvTimeoutError::Disconnected) => panic!("the callback panicked"),
    }
}

#[test]
fn a_callback_inside_a_submission_of_ours_may_call_us() {
    for gpu in devices() {
        let gpu: Gpu = gpu.clone();
        in_time("a callback inside submit", move || {
            for _ in 0..20 {
                let called = when_done(&gpu, call_us);
                let a = tensor(&gpu, 1);
                // Sooner or later the work is done, and the next submission calls back.
                while still_to_come(&called, Duration::from_millis(1)) {
                    let c = ops::add(&a, &a).unwrap();
                    gpu.flush().unwrap();
                    drop(c);
                }
                assert_eq!(matmul(&a, &a).unwrap().to_vec().unwrap(), product(&data(1), &data(1)));
            }
        });
    }
}

#[test]
fn a_callback_inside_a_poll_may_call_us_and_wait_for_a_thread_that_does() {
    for gpu in devices() {
        let gpu: Gpu = gpu.clone();
        in_time("a callback inside poll", move || {
            for _ in 0..10 {
                let called = when_done(&gpu, |gpu| {
                    call_us(gpu);
                    let other = gpu.clone();
                    std::thread::spawn(move || call_us(&other)).join().unwrap();
                });
                gpu.device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
                called.recv().unwrap();
            }
        });
    }
}

#[test]
fn a_callback_on_our_waiting_thread_may_wait_for_a_read() {
    for gpu in devices() {
        let gpu: Gpu = gpu.clone();
        in_time("a callback on the waiting thread", move || {
            let a = tensor(&gpu, 1);
            for _ in 0..10 {
                let called = when_done(&gpu, call_us);
                // Nobody polls but that thread.
                assert_eq!(pollster::block_on(a.read()).unwrap(), data(1));
                while still_to_come(&called, Duration::from_millis(1)) {
                    assert_eq!(pollster::block_on(a.read()).unwrap(), data(1));
                }
            }
        });
    }
}

#[test]
fn a_callback_that_panics_leaves_everything_usable() {
    for gpu in devices() {
        let gpu: Gpu = gpu.clone();
        in_time("a callback that panics", move || {
            let a = tensor(&gpu, 1);
            let want = product(&data(1), &data(1));
            for _ in 0..5 {
                let _called = when_done(&gpu, |_| panic!("the panic under test"));
                let calls = std::panic::AssertUnwindSafe(|| {
                    loop {
                        let c = matmul(&a, &a).unwrap();
                        gpu.wait().unwrap();
                        assert_eq!(c.to_vec().unwrap(), want);
                    }
                });
                assert!(std::panic::catch_unwind(calls).is_err(), "it is the caller who sees the panic");
                assert_eq!(matmul(&a, &a).unwrap().to_vec().unwrap(), want);
                gpu.wait().unwrap();
            }
        });
    }
}

#[test]
fn an_error_of_the_applications_own_fails_no_call_of_ours() {
    for (at, gpu) in devices().into_iter().enumerate() {
        let a = tensor(&gpu, 1);
        let recorded = matmul(&a, &a).unwrap();
        let bad = wgpu::BufferDescriptor {
            label: Some("bad"),
            size: 4,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::STORAGE,
            mapped_at_creation: false,
        };
        let mistake = move |gpu: &Gpu| drop(gpu.device().create_buffer(&bad));
        let called = when_done(&gpu, mistake.clone());
        while still_to_come(&called, Duration::from_millis(1)) {
            let _ = matmul(&a, &a).unwrap();
            gpu.flush().expect("the mistake is another's");
        }
        if at > 0 {
            // An adopted device has its application's handler, and wgpu's, which panics, where there is none.
            gpu.device().on_uncaptured_error(std::sync::Arc::new(|_| ()));
        }
        mistake(&gpu);
        assert_eq!(recorded.to_vec().unwrap(), product(&data(1), &data(1)));
    }
}

/// What is refused is the application's submission, not ours around it: ours has run, and must not run again.
#[test]
fn a_submission_of_the_applications_that_is_refused_inside_ours_repeats_nothing() {
    for gpu in devices() {
        let (zero, one) = (vec![0.0f32; 64], gpu.tensor(&[1.0f32; 64], [8, 8]).unwrap());
        for _ in 0..10 {
            let mut counter = gpu.tensor(&zero, [8, 8]).unwrap();
            let called = when_done(&gpu, |gpu| {
                let gone = gpu.device().create_buffer(&wgpu::BufferDescriptor {
                    label: Some("gone"),
                    size: 8,
                    usage: wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
                    mapped_at_creation: false,
                });
                let mut encoder = gpu.device().create_command_encoder(&Default::default());
                encoder.clear_buffer(&gone, 0, None);
                let commands = encoder.finish();
                gone.destroy();
                gpu.queue().submit([commands]);
            });
            let mut added = 0.0;
            while still_to_come(&called, Duration::ZERO) {
                ops::add_inplace(&mut counter, &one).unwrap();
                ops::add_inplace(&mut counter, &one).unwrap();
                gpu.flush().expect("what is refused is not ours");
                added += 2.0;
            }
            assert_eq!(counter.to_vec().unwrap(), [added; 64]);
        }
    }
}

#[test]
fn the_last_gpu_may_be_dropped_in_a_callback() {
    for gpu in devices() {
        let gpu: Gpu = gpu.clone();
        let _doing = doing("the last Gpu is dropped in a callback");
        let a = gpu.tensor(&[1.0f32, 2.0], [1, 2]).unwrap();
        let sum = ops::add(&a, &a).unwrap();
        gpu.flush().unwrap();
        let (device, queue) = (gpu.device().clone(), gpu.queue().clone());
        let done = Arc::new(AtomicBool::new(false));
        let told = done.clone();
        queue.on_submitted_work_done(move || {
            let _doing = doing("the callback that drops the last Gpu");
            drop((a, sum, gpu));
            told.store(true, Ordering::Release);
        });
        while !done.load(Ordering::Acquire) {
            device.poll(wgpu::PollType::Poll).unwrap();
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

#[test]
fn every_call_returns_in_the_callback_of_a_lost_device() {
    for gpu in devices() {
        let gpu: Gpu = gpu.clone();
        let _doing = doing("a lost device");
        let a = gpu.tensor(&[1.0f32, 2.0], [1, 2]).unwrap();
        let sum = ops::add(&a, &a).unwrap();
        gpu.flush().unwrap();
        let (device, done) = (gpu.device().clone(), Arc::new(AtomicBool::new(false)));
        // The device holds the callback: what that holds is let go of in it, or the device would live for ever.
        let held = Mutex::new(Some((gpu, a, sum)));
        let told = done.clone();
        device.set_device_lost_callback(move |_, why| {
            let _doing = doing("the callback of a lost device");
            let Some((gpu, mut a, sum)) = held.lock().unwrap().take() else { return };
            gpu.mark_lost(why);
            for error in [
                gpu.flush().err(),
                gpu.wait().err(),
                gpu.tensor(&[1.0f32], [1]).err(),
                ops::add(&a, &a).err(),
                a.write(&[3.0, 4.0]).err(),
                sum.to_vec().err(),
                pollster::block_on(sum.read()).err(),
            ] {
                assert!(matches!(error, Some(Error::Device(_))), "{error:?}");
            }
            assert!(gpu.stats().bytes_in_use > 0);
            told.store(true, Ordering::Release);
        });
        device.destroy();
        while !done.load(Ordering::Acquire) {
            let _ = device.poll(wgpu::PollType::Poll);
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
