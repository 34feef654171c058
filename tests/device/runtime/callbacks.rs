//! Callbacks of the application's that call us: inside our submissions, inside polls, on our own waiting thread.

use super::{data, devices, product, tensor};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use support::app::refused_commands;
use support::on_every_device;
use support::watchdog::doing;
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
    on_every_device("a callback inside submit", |gpu| {
        for _ in 0..20 {
            let called = when_done(gpu, call_us);
            let a = tensor(gpu, 1);
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

#[test]
fn a_callback_inside_a_poll_may_call_us_and_wait_for_a_thread_that_does() {
    on_every_device("a callback inside poll", |gpu| {
        for _ in 0..10 {
            let called = when_done(gpu, |gpu| {
                call_us(gpu);
                let other = gpu.clone();
                std::thread::spawn(move || call_us(&other)).join().unwrap();
            });
            gpu.device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
            called.recv().unwrap();
        }
    });
}

#[test]
fn a_callback_on_our_waiting_thread_may_wait_for_a_read() {
    on_every_device("a callback on the waiting thread", |gpu| {
        let a = tensor(gpu, 1);
        for _ in 0..10 {
            let called = when_done(gpu, call_us);
            // Nobody polls but that thread.
            assert_eq!(pollster::block_on(a.read()).unwrap(), data(1));
            while still_to_come(&called, Duration::from_millis(1)) {
                assert_eq!(pollster::block_on(a.read()).unwrap(), data(1));
            }
        }
    });
}

#[test]
fn a_callback_that_panics_leaves_everything_usable() {
    on_every_device("a callback that panics", |gpu| {
        let a = tensor(gpu, 1);
        let want = product(&data(1), &data(1));
        for _ in 0..5 {
            let _called = when_done(gpu, |_| panic!("the panic under test"));
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
            gpu.device().on_uncaptured_error(Arc::new(|_| ()));
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
            let called = when_done(&gpu, |gpu| _ = gpu.queue().submit([refused_commands(gpu)]));
            let mut added = 0.0;
            while still_to_come(&called, Duration::ZERO) {
                ops::add_assign(&mut counter, &one).unwrap();
                ops::add_assign(&mut counter, &one).unwrap();
                gpu.flush().expect("what is refused is not ours");
                added += 2.0;
            }
            assert_eq!(counter.to_vec().unwrap(), [added; 64]);
        }
    }
}

/// What is refused is a callback's submission, again and again, in the question about the first one too.
#[test]
fn refused_submissions_in_a_row_of_callbacks_repeat_nothing() {
    fn refuse(gpu: &Gpu, again: usize, done: &std::sync::mpsc::Sender<()>) {
        let commands = refused_commands(gpu);
        if again == 0 {
            let _ = done.send(());
        } else {
            let (gpu, done) = (gpu.clone(), done.clone());
            gpu.clone().queue().on_submitted_work_done(move || refuse(&gpu, again - 1, &done));
        }
        gpu.queue().submit([commands]);
    }
    for gpu in devices() {
        let (zero, one) = (vec![0.0f32; 64], gpu.tensor(&[1.0f32; 64], [8, 8]).unwrap());
        gpu.device().on_uncaptured_error(Arc::new(|_| ()));
        for again in 1..6 {
            let mut counter = gpu.tensor(&zero, [8, 8]).unwrap();
            let (done, called) = channel();
            drop(when_done(&gpu, move |gpu| refuse(gpu, again, &done)));
            let mut added = 0.0;
            while still_to_come(&called, Duration::ZERO) {
                ops::add_assign(&mut counter, &one).unwrap();
                ops::add_assign(&mut counter, &one).unwrap();
                gpu.flush().expect("what is refused is not ours");
                added += 2.0;
            }
            assert_eq!(counter.to_vec().unwrap(), [added; 64], "{again} callbacks");
        }
    }
}

/// While the device is asked what became of a submission that wgpu refuses, callbacks run, and wait for threads that submit.
#[test]
fn a_callback_beside_a_refused_submission_may_wait_for_a_thread_that_submits() {
    on_every_device("a callback beside a refusal", |gpu| {
        let a = tensor(gpu, 1);
        for _ in 0..10 {
            let bad = tensor(gpu, 2);
            bad.buffer().unwrap().0.destroy();
            let called = when_done(gpu, |gpu| {
                let other = gpu.clone();
                std::thread::spawn(move || call_us(&other)).join().unwrap();
            });
            // A copy from a destroyed buffer is refused when it is submitted, a launch when it is encoded.
            let right = ops::add(&a, &a).unwrap();
            assert!(bad.to_vec().is_err());
            assert_eq!(right.to_vec().unwrap(), data(1).iter().map(|x| x + x).collect::<Vec<_>>());
            while still_to_come(&called, Duration::from_millis(1)) {
                gpu.device().poll(wgpu::PollType::Poll).unwrap();
            }
        }
    });
}

#[test]
fn waiting_in_a_callback_waits_for_the_submission_around_it() {
    on_every_device("a wait in a callback", |gpu| {
        let large = gpu.random::<f32>([256; 2], tilewise::Fill::Uniform, 1).unwrap();
        for _ in 0..10 {
            let called = when_done(gpu, |gpu| {
                gpu.wait().unwrap();
                let polled = gpu.device().poll(wgpu::PollType::Poll).unwrap();
                assert!(polled.is_queue_empty(), "the submission around the callback goes on");
            });
            while still_to_come(&called, Duration::from_millis(1)) {
                let _ = matmul(&large, &large).unwrap();
                gpu.flush().unwrap();
            }
        }
    });
}

/// The thread that runs the callback is one of those that wait for reads, and all of them are busy.
#[test]
fn a_callback_may_wait_for_a_read_though_every_waiting_thread_is_busy() {
    on_every_device("a read in a callback among reads", |gpu| {
        let large = gpu.random::<f32>([128; 2], tilewise::Fill::Uniform, 1).unwrap();
        for _ in 0..20 {
            let first = matmul(&large, &large).unwrap();
            gpu.flush().unwrap();
            let (inside, (done, called)) = (gpu.clone(), channel());
            gpu.queue().on_submitted_work_done(move || {
                assert_eq!(pollster::block_on(tensor(&inside, 2).read()).unwrap(), data(2));
                let _ = done.send(());
            });
            // What the threads wait for comes behind what the callback waits for.
            let later: Vec<_> = (0..8).map(|_| matmul(&first, &large).unwrap()).collect();
            std::thread::scope(|scope| {
                for product in &later {
                    scope.spawn(|| pollster::block_on(product.read()).unwrap());
                }
            });
            while still_to_come(&called, Duration::from_millis(1)) {
                gpu.device().poll(wgpu::PollType::Poll).unwrap();
            }
        }
    });
}

/// Each launch tells its own failure, and no other thread's.
#[test]
fn launches_that_are_submitted_one_by_one_fail_by_themselves() {
    let Some(gpu) = support::own(|options| options.submission = tilewise::gpu::Submission::EachLaunch) else {
        return;
    };
    let (a, bad) = (tensor(&gpu, 1), tensor(&gpu, 2));
    bad.buffer().unwrap().0.destroy();
    std::thread::scope(|scope| {
        let others = scope.spawn(|| {
            (0..200)
                .for_each(|_| assert!(ops::add(&a, &bad).is_err(), "its own failure was told to another"));
        });
        let (zero, one) = (vec![0.0f32; 64], gpu.tensor(&[1.0f32; 64], [8, 8]).unwrap());
        let mut counter = gpu.tensor(&zero, [8, 8]).unwrap();
        for _ in 0..200 {
            ops::add_assign(&mut counter, &one).expect("the failure is another thread's");
        }
        assert_eq!(counter.to_vec().unwrap(), [200.0; 64]);
        others.join().unwrap();
    });
    gpu.flush().expect("every failure has been told");
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
