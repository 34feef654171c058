//! A device that its application has destroyed without a word, and waits on adopted devices.

use super::{data, devices, long_work, product, tensor};
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, ThreadId};
use std::time::Duration;
use support::failure::says;
use support::on_every_device;
use support::watchdog::in_time;
use tilewise::gpu::{AdoptOptions, CacheFolder, Polling};
use tilewise::{Fill, Gpu, GpuOptions, matmul, wgpu};

#[test]
fn reads_on_an_adopted_device_complete_under_any_executor() {
    on_every_device("block_on", |gpu| {
        let a = tensor(gpu, 1);
        let c = matmul(&a, &a).unwrap();
        assert_eq!(pollster::block_on(c.read()).unwrap(), product(&data(1), &data(1)));
        let reads = futures::future::join3(a.read(), c.read(), c.t().read());
        let (first, second, _) = pollster::block_on(reads);
        assert_eq!((first.unwrap(), second.unwrap()), (data(1), product(&data(1), &data(1))));
    });
}

#[test]
fn adopting_completes_under_any_executor() {
    let Some((adapter, device, queue)) = support::application(|_| ()) else { return };
    let options = GpuOptions { cache: CacheFolder::Off, ..GpuOptions::from_env().unwrap() };
    in_time("block_on", move || {
        let gpu = pollster::block_on(Gpu::adopt_with_async(&adapter, device, queue, options)).unwrap();
        let a = tensor(&gpu, 1);
        assert_eq!(matmul(&a, &a).unwrap().to_vec().unwrap(), product(&data(1), &data(1)));
    });
}

#[test]
fn an_application_that_wants_no_thread_of_ours_polls_itself() {
    let Some((adapter, device, queue)) = support::application(|_| ()) else { return };
    let options = AdoptOptions::from_env().unwrap().polled_by_application();
    assert_eq!(options.polling, Polling::Application);
    let gpu = Gpu::adopt_with(&adapter, device, queue, options).unwrap();
    let a = gpu.random::<f32>([33, 7], Fill::Integers, 3).unwrap();
    let mut read = pin!(a.t().read());
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..5 {
        assert!(read.as_mut().poll(&mut context).is_pending(), "nobody has polled the device");
        thread::sleep(Duration::from_millis(10));
    }
    gpu.device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
    let Poll::Ready(values) = read.as_mut().poll(&mut context) else { panic!("the device has been polled") };
    let data = Fill::Integers.values::<f32>(33 * 7, 3);
    let want: Vec<f32> = (0..33 * 7).map(|i| data[i % 33 * 7 + i / 33]).collect();
    assert_eq!(values.unwrap(), want);
    assert_eq!(a.t().to_vec().unwrap(), want, "the blocking form polls by itself");
}

/// An adopted device that only its application polls, and a read of a tensor there that waits.
fn polled_by_application() -> Option<(Gpu, tilewise::Tensor<f32>)> {
    let (adapter, device, queue) = support::application(|_| ())?;
    let options = AdoptOptions::from_env().unwrap().polled_by_application();
    let gpu = Gpu::adopt_with(&adapter, device, queue, options).unwrap();
    let a = tensor(&gpu, 1);
    Some((gpu, a))
}

#[test]
fn a_read_that_nobody_polls_for_ends_when_the_device_is_lost() {
    let Some((gpu, a)) = polled_by_application() else { return };
    let lost = gpu.clone();
    in_time("a read of a lost device", move || {
        let read = a.read();
        std::thread::spawn(move || {
            thread::sleep(Duration::from_millis(50));
            lost.mark_lost("the test says so");
        });
        says(pollster::block_on(read), &["the test says so"]);
        assert!(pollster::block_on(a.read()).is_err());
    });
}

#[test]
fn a_read_ends_though_a_callback_of_the_applications_panics_before_its_own() {
    let Some((gpu, a)) = polled_by_application() else { return };
    in_time("a read behind a panic", move || {
        let buffer = support::app::buffer(
            gpu.device(),
            4,
            wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        );
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        encoder.clear_buffer(&buffer, 0, None);
        gpu.queue().submit([encoder.finish()]);
        let mut read = pin!(a.read());
        let mut context = Context::from_waker(Waker::noop());
        assert!(read.as_mut().poll(&mut context).is_pending());
        // The buffer's last use is the earlier submission: wgpu calls this back before our own callback.
        buffer.map_async(wgpu::MapMode::Read, .., |_| panic!("the panic under test"));
        let device = gpu.device().clone();
        let polled = std::panic::AssertUnwindSafe(|| device.poll(wgpu::PollType::wait_indefinitely()));
        assert!(std::panic::catch_unwind(polled).is_err(), "it is the application that sees its panic");
        assert_eq!(pollster::block_on(read).unwrap(), data(1));
    });
}

/// Who first asks after the loss gets the same message as every later caller.
#[test]
fn the_message_of_a_loss_says_only_once_that_the_gpu_failed() {
    for gpu in support::every_device() {
        gpu.device().destroy();
        for _ in 0..2 {
            let error = gpu.wait().expect_err("the device is lost").to_string();
            let start = "the GPU failed: the device is lost: ";
            let why = error.strip_prefix(start).unwrap_or_else(|| panic!("it begins otherwise: {error}"));
            assert!(why.contains("lost") && !why.contains("the GPU failed"), "{error}");
        }
    }
}

/// Notes who wakes it, and panics if it should.
#[derive(Default)]
struct Woken {
    by: Mutex<Vec<ThreadId>>,
    panics: AtomicBool,
}

impl Woken {
    fn by(&self) -> Vec<ThreadId> {
        self.by.lock().unwrap().clone()
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.by.lock().unwrap().push(thread::current().id());
        assert!(!self.panics.load(Ordering::Relaxed), "the panic under test");
    }
}

/// wgpu holds locks of its own where it says that a device is lost, and a task may need them: another thread wakes it.
#[test]
fn tasks_are_woken_by_another_thread_than_tells_of_the_loss_and_a_panic_of_one_keeps_none_waiting() {
    let Some((gpu, a)) = polled_by_application() else { return };
    in_time("reads of a lost device", || {
        long_work(&gpu);
        // On lavapipe a submission waits for the one before, and so a read may have come at once, or while this thread
        // makes the next.
        let mut reads = Vec::new();
        while reads.is_empty() {
            for _ in 0..6 {
                let (mut read, woken) = (Box::pin(a.read()), Arc::new(Woken::default()));
                let waker = Waker::from(woken.clone());
                if read.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
                    reads.push((read, woken));
                }
            }
            reads.retain(|(_, woken)| woken.by().is_empty());
        }
        // From now on nobody polls, nor submits.
        for (_, woken) in reads.iter().step_by(2) {
            woken.panics.store(true, Ordering::Relaxed);
        }
        gpu.mark_lost("the test says so");
        while reads.iter().any(|(_, woken)| woken.by().is_empty()) {
            thread::sleep(Duration::from_millis(1));
        }
        for (read, woken) in &mut reads {
            assert!(
                !woken.by().contains(&thread::current().id()),
                "the thread that tells of the loss ran a task"
            );
            let Poll::Ready(values) = read.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
                panic!("it was woken for nothing")
            };
            says(values, &["the test says so"]);
        }
    });
}

/// Keeps the thread that wakes it until it may go on.
struct Held {
    woken: Sender<ThreadId>,
    may_go: Mutex<Receiver<()>>,
    gone: Sender<()>,
}

impl Wake for Held {
    fn wake(self: Arc<Self>) {
        self.woken.send(thread::current().id()).unwrap();
        self.may_go.lock().unwrap().recv().unwrap();
        self.gone.send(()).unwrap();
    }
}

/// As in wgpu's callback of a lost device, which holds locks that a thread of ours may need.
#[test]
fn the_last_gpu_may_be_dropped_on_a_lost_device_though_a_thread_of_ours_waits_for_that() {
    // Without the tests' own handles, which would be the last.
    let gpus: Vec<Gpu> = devices().iter().map(|gpu| Gpu::clone(gpu)).collect();
    for gpu in gpus {
        let _doing = support::watchdog::doing("a last drop");
        let a = tensor(&gpu, 1);
        let ((woken, is_woken), (go, may_go), (gone, is_gone)) = (channel(), channel(), channel());
        let waker = Waker::from(Arc::new(Held { woken, may_go: Mutex::new(may_go), gone }));
        // A read that has come before its task has left a waker wakes nobody: then there is another.
        let mut read = Box::pin(a.read());
        while read.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
            read = Box::pin(a.read());
        }
        assert_ne!(is_woken.recv().unwrap(), thread::current().id());
        gpu.mark_lost("the test says so");
        drop((read, a, gpu));
        go.send(()).unwrap();
        is_gone.recv().unwrap();
    }
}
