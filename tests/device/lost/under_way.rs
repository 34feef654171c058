//! Devices that are lost while work is recorded, reads are pending, uploads are staged, and other threads or callbacks are
//! inside our functions. Each ends with `Error::Device`, and the last `Gpu` can be dropped.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, RwLock};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;
use support::watchdog::{doing, in_time};
use tilewise::gpu::AdoptOptions;
use tilewise::{Error, Fill, Gpu, Result, Tensor, matmul, ops, wgpu};

/// How a device is lost: the application says so, or destroys it without a word.
const LOSSES: [fn(&Gpu); 2] = [
    |gpu| gpu.mark_lost("the cable was pulled"),
    |gpu| {
        let _between = UPLOADS.write().expect("no panic");
        gpu.device().destroy();
    },
];

/// Held by threads that upload while others destroy the device, as the book tells applications.
///
/// NOTE: in wgpu 30.0.2 a thread inside `Queue::write_buffer` and one that polls can wait for each other if the device is
/// destroyed meanwhile: the former holds the lock of destruction and takes that of the trackers, the latter the other way round.
static UPLOADS: RwLock<()> = RwLock::new(());

/// Runs this on devices of every kind, which are lost in both ways. Only the closure holds the device: what it drops last
/// is the last of it.
fn on_every_loss(what: &str, work: impl Fn(Gpu, fn(&Gpu))) {
    for loss in LOSSES {
        let on_noop = doing(what);
        work(support::noop(), loss);
        drop(on_noop);
        for gpu in support::every_device() {
            in_time(what, || work(Gpu::clone(&gpu), loss));
        }
    }
}

fn square(gpu: &Gpu) -> Result<Tensor<f32>> {
    gpu.random::<f32>([8, 8], Fill::Integers, 1)
}

fn assert_device<T>(result: Result<T>, what: &str) {
    match result {
        Ok(_) => panic!("{what} went through on a lost device"),
        Err(error) => assert!(matches!(error, Error::Device(_)), "{what}: {error:?}"),
    }
}

#[test]
fn recorded_work_ends_with_the_device() {
    on_every_loss("recorded work", |gpu, loss| {
        let a = square(&gpu).unwrap();
        a.to_vec().unwrap();
        let (kept, dropped) = (matmul(&a, &a).unwrap(), ops::add(&a, &a).unwrap());
        drop(dropped);
        loss(&gpu);
        assert_device(kept.to_vec(), "a read of recorded work");
        assert_device(matmul(&a, &kept).and_then(|c| c.to_vec()), "a product with it");
        assert_device(gpu.flush(), "a flush");
    });
}

#[test]
fn recorded_work_that_nobody_asks_for_is_dropped_with_the_device() {
    on_every_loss("a drop of recorded work", |gpu, loss| {
        let a = square(&gpu).unwrap();
        let c = matmul(&a, &a).unwrap();
        loss(&gpu);
        drop((a, c, gpu));
    });
}

#[test]
fn staged_uploads_end_with_the_device() {
    on_every_loss("staged uploads", |gpu, loss| {
        let mut tensors: Vec<_> = (0..40).map(|_| gpu.tensor(&[1.0f32; 1000], [1000]).unwrap()).collect();
        loss(&gpu);
        // An upload is staged, not submitted: without a word of the loss it may go through.
        let _ = tensors[0].write(&[2.0; 1000]);
        assert_device(gpu.wait(), "a wait for uploads");
        assert_device(tensors[1].write(&[2.0; 1000]), "another upload");
        assert_device(tensors[2].to_vec(), "a read of an upload");
        drop(gpu);
        tensors.pop();
    });
}

#[test]
fn pending_reads_end_with_the_device() {
    on_every_loss("pending reads", |gpu, loss| {
        let a = square(&gpu).unwrap();
        let (mut polled, unpolled) = (pin!(a.read()), a.read());
        let mut context = Context::from_waker(Waker::noop());
        let was_ready = polled.as_mut().poll(&mut context).is_ready();
        loss(&gpu);
        // What the device had run before it was lost may still arrive.
        if !was_ready && let Err(error) = pollster::block_on(polled) {
            assert!(matches!(error, Error::Device(_)), "{error:?}");
        }
        if let Err(error) = pollster::block_on(unpolled) {
            assert!(matches!(error, Error::Device(_)), "{error:?}");
        }
        assert_device(pollster::block_on(a.read()), "another read");
    });
}

#[test]
fn bytes_that_arrived_before_the_loss_are_not_those_of_a_later_read() {
    on_every_loss("bytes that arrived", |gpu, loss| {
        let (a, b) = (square(&gpu).unwrap(), gpu.random::<f32>([8, 8], Fill::Integers, 2).unwrap());
        let arrived = a.read();
        gpu.device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
        loss(&gpu);
        if let Err(error) = pollster::block_on(arrived) {
            assert!(matches!(error, Error::Device(_)), "{error:?}");
        }
        assert_device(pollster::block_on(b.read()), "a later read");
        assert_device(b.to_vec(), "another later read");
    });
}

#[test]
fn reads_on_a_device_that_its_application_polls_end_when_it_does() {
    let Some((adapter, device, queue)) = support::application(|_| ()) else { return };
    let options = AdoptOptions::from_env().unwrap().polled_by_application();
    let gpu = Gpu::adopt_with(&adapter, device.clone(), queue, options).unwrap();
    let told = gpu.clone();
    device.set_device_lost_callback(move |_, why| told.mark_lost(why));
    in_time("a read that the application polls for", || {
        let a = square(&gpu).unwrap();
        gpu.wait().unwrap();
        let mut read = pin!(a.read());
        let mut context = Context::from_waker(Waker::noop());
        let mut last = read.as_mut().poll(&mut context);
        device.destroy();
        while last.is_pending() {
            let _ = device.poll(wgpu::PollType::Poll);
            thread::sleep(Duration::from_millis(1));
            last = read.as_mut().poll(&mut context);
        }
        if let Poll::Ready(Err(error)) = last {
            assert!(matches!(error, Error::Device(_)), "{error:?}");
        }
        assert_device(gpu.wait(), "a wait");
    });
    // The callback holds a handle of the device that holds the callback.
    device.set_device_lost_callback(|_, _| ());
}

/// Loses a device, and lets it release what it has. Returns vectors that take freed memory.
fn lose_and_release(gpu: &Gpu, loss: fn(&Gpu)) -> Vec<Vec<f32>> {
    loss(gpu);
    let _ = gpu.device().poll(wgpu::PollType::Poll);
    vec![vec![-1.0; 1000]; 100]
}

#[test]
fn bytes_that_are_read_in_place_outlive_the_device() {
    on_every_loss("bytes read in place", |gpu, loss| {
        let a = gpu.random::<f32>([1000], Fill::Integers, 1).unwrap();
        let want = a.to_vec().unwrap();
        let read = pollster::block_on(a.read_with(|bytes| {
            let others = lose_and_release(&gpu, loss);
            (bytes.to_vec(), others)
        }));
        assert_eq!(read.expect("it had arrived").0, want);
    });
}

#[test]
fn staging_memory_that_is_filled_outlives_the_device() {
    on_every_loss("staging memory filled", |gpu, loss| {
        let mut a = gpu.random::<f32>([1000], Fill::Integers, 1).unwrap();
        let mut others = Vec::new();
        // Without a word of the loss the write may go through.
        let _ = a.write_from(|to| {
            others = lose_and_release(&gpu, loss);
            to.write(0, &[2.0; 1000]);
        });
        assert!(others.into_iter().flatten().all(|other| other == -1.0), "freed memory was written to");
        assert_device(gpu.wait(), "a wait");
    });
}

type Work = fn(&Gpu, &Tensor<f32>) -> Result<()>;

/// What each of the threads repeats, and whether it uploads.
const LOOPS: [(bool, Work); 5] = [
    (false, |_, a| matmul(a, a)?.to_vec().map(drop)),
    (true, |gpu, _| gpu.tensor(&[1.0f32; 4000], [4000])?.to_vec().map(drop)),
    (false, |_, a| pollster::block_on(ops::add(a, a)?.read()).map(drop)),
    (false, |gpu, a| ops::mul(a, a).and_then(|_| gpu.flush()).and_then(|()| gpu.wait())),
    (false, |gpu, a| {
        gpu.trim();
        ops::softmax(a, 1)?.buffer().map(drop)?;
        gpu.wait()
    }),
];

#[test]
fn threads_inside_our_functions_come_out_with_the_error() {
    on_every_loss("threads inside", |gpu, loss| {
        let a = square(&gpu).unwrap();
        let begun = Arc::new(Barrier::new(LOOPS.len() + 1));
        let writes_dims = !gpu.device().features().contains(wgpu::Features::IMMEDIATES);
        let threads = LOOPS.map(|(uploads, work)| {
            let (gpu, a, begun) = (gpu.clone(), a.clone(), begun.clone());
            let uploads = uploads || writes_dims;
            thread::spawn(move || {
                let _doing = doing("a thread of a device that is lost");
                work(&gpu, &a).unwrap();
                begun.wait();
                loop {
                    let _upload = uploads.then(|| UPLOADS.read().expect("no panic"));
                    if let Err(error) = work(&gpu, &a) {
                        return error;
                    }
                }
            })
        });
        drop(a);
        begun.wait();
        thread::sleep(Duration::from_millis(5));
        loss(&gpu);
        drop(gpu);
        for thread in threads {
            let error = thread.join().expect("no panic");
            assert!(matches!(error, Error::Device(_)), "{error:?}");
        }
    });
}

#[test]
fn a_callback_may_lose_the_device_and_call_us() {
    on_every_loss("a callback", |gpu, loss| {
        let a = square(&gpu).unwrap();
        let c = matmul(&a, &a).unwrap();
        gpu.flush().unwrap();
        let (sender, receiver) = channel();
        let (inside, operand) = (gpu.clone(), a.clone());
        gpu.queue().on_submitted_work_done(move || {
            loss(&inside);
            let product = matmul(&operand, &operand).and_then(|c| c.to_vec());
            sender.send((product.err(), inside.wait().err())).unwrap();
        });
        // The wait runs the callback, and may end before or after the loss.
        let _ = gpu.wait();
        drop(c);
        let (product, wait) = receiver.recv().expect("the callback has run");
        for error in [product, wait] {
            assert!(matches!(error, Some(Error::Device(_))), "{error:?}");
        }
        assert_device(gpu.wait(), "a wait");
        assert_device(a.to_vec(), "a read");
    });
}

#[test]
fn the_applications_callback_of_the_loss_runs_once_and_may_call_us() {
    for gpu in support::every_device() {
        let calls = Arc::new(AtomicUsize::new(0));
        let (told, counted) = (Gpu::clone(&gpu), calls.clone());
        gpu.device().set_device_lost_callback(move |_, why| {
            counted.fetch_add(1, Ordering::SeqCst);
            told.mark_lost(why);
            assert_device(told.flush(), "a flush");
            assert_device(square(&told), "a new tensor");
            assert_device(told.wait(), "a wait");
        });
        in_time("a loss that wgpu reports", || {
            let a = square(&gpu).unwrap();
            let c = matmul(&a, &a).unwrap();
            gpu.device().destroy();
            assert_device(c.to_vec(), "a read");
            let _ = gpu.device().poll(wgpu::PollType::Poll);
            assert_device(gpu.wait(), "a wait");
            let _ = gpu.device().poll(wgpu::PollType::Poll);
        });
        assert_eq!(calls.load(Ordering::SeqCst), 1, "wgpu tells the application once");
        // The callback holds a handle of the device that holds the callback.
        gpu.device().set_device_lost_callback(|_, _| ());
    }
}
