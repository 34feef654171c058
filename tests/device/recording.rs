//! What is recorded, when it is submitted, and that buffers handed on in between keep the right contents.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use support::failure::{Kind, fails};
use tilewise::gemm::GemmKernel;
use tilewise::gpu::{Clock, Submission};
use tilewise::{Element, Error, Fill, Gemm, Tensor, f16, matmul, reference};

const SIZE: usize = 8;

fn product(a: &[f32], b: &[f32]) -> Vec<f32> {
    reference::gemm(a, b, [SIZE; 3]).value.iter().map(|&v| f32::from_f64(v)).collect()
}

fn data(seed: u64) -> Vec<f32> {
    Fill::Integers.values(SIZE * SIZE, seed)
}

#[test]
fn nothing_is_submitted_before_a_result_is_read() {
    let Some(gpu) = support::own(|options| options.submission = Submission::Batched) else { return };
    let a = gpu.tensor(&data(1), [SIZE; 2]).unwrap();
    let first = gpu.stats();
    let mut c = matmul(&a, &a).unwrap();
    for _ in 0..9 {
        c = Gemm::new(&a, &a).kernel(GemmKernel::Naive).run().unwrap();
    }
    assert_eq!((gpu.stats().launches - first.launches, gpu.stats().submits - first.submits), (10, 0));
    assert_eq!(c.to_vec().unwrap(), product(&data(1), &data(1)));
    assert_eq!(gpu.stats().submits - first.submits, 1, "the read submits, once");
    assert_eq!(c.to_vec().unwrap().len(), SIZE * SIZE);
    assert_eq!(gpu.stats().submits - first.submits, 2, "each read takes a copy of its own");
}

#[test]
fn the_64th_launch_or_two_milliseconds_submit_by_themselves() {
    let Some(gpu) = support::own(|options| options.submission = Submission::Batched) else { return };
    let a = gpu.tensor(&[2.0f32], [1, 1]).unwrap();
    let mut c = gpu.tensor(&[0.0f32], [1, 1]).unwrap();
    let each = Gemm::new(&a, &a).plan().unwrap().seconds();
    let every = (1..64).find(|&launches| f64::from(launches) * each >= 2e-3).unwrap_or(64);
    let submits = gpu.stats().submits;
    let mut counts = Vec::new();
    for launch in 1..=130 {
        c.assign(|| matmul(&a, &a)).unwrap();
        if gpu.stats().submits - submits > counts.len() as u64 {
            counts.push(launch);
        }
    }
    assert_eq!(counts, [every, 2 * every], "launches of {each} s");
    assert_eq!(c.to_vec().unwrap(), [4.0]);
}

#[test]
fn two_milliseconds_of_predicted_work_submit_by_themselves() {
    let Some(gpu) = support::own(|options| options.submission = Submission::Batched) else { return };
    // Large enough that fewer than 64 of them take 2 ms, on whatever device this is.
    let seconds = |size: usize| {
        let a = gpu.empty::<f32>([size, 8]).unwrap();
        Gemm::new(&a, &a.t()).plan().unwrap().seconds()
    };
    let size = [64, 128, 256, 512, 1024, 2048, 4096].into_iter().find(|&size| seconds(size) > 5e-5);
    let size = size.expect("one of them takes longer");
    let a = gpu.zeros::<f32>([size, 8]).unwrap();
    let mut c = gpu.empty::<f32>([size, size]).unwrap();
    let expected = (2e-3 / seconds(size)).ceil();
    assert!(expected < 64.0, "{expected} launches");
    let submits = gpu.stats().submits;
    let mut launches = 0.0;
    while gpu.stats().submits == submits {
        c.assign(|| matmul(&a, &a.t())).unwrap();
        launches += 1.0;
    }
    assert!((launches - expected).abs() <= 1.0, "{launches} launches instead of {expected}");
    assert_eq!(c.to_vec().unwrap(), vec![0.0; size * size]);
}

#[test]
fn in_step_every_launch_is_submitted() {
    let Some(gpu) = support::own(|options| options.submission = Submission::EachLaunch) else { return };
    let a = gpu.tensor(&data(1), [SIZE; 2]).unwrap();
    let mut c = matmul(&a, &a).unwrap();
    for _ in 0..4 {
        c = matmul(&a, &a).unwrap();
    }
    assert_eq!((gpu.stats().launches, gpu.stats().submits), (5, 5));
    assert_eq!(c.to_vec().unwrap(), product(&data(1), &data(1)));
    let (_, timing) = gpu.time(|| matmul(&a, &a)).unwrap();
    assert!(timing.seconds > 0.0, "{timing:?}");
}

#[test]
fn an_upload_does_not_overwrite_what_recorded_work_still_reads() {
    let Some(gpu) = support::own(|options| options.submission = Submission::Batched) else { return };
    let (x, y) = (data(1), data(2));
    let a = gpu.tensor(&x, [SIZE; 2]).unwrap();
    let c = matmul(&a, &a).unwrap();
    let d = matmul(&c, &a).unwrap();
    // Its buffer is free now, but the recording still reads it, and an upload would run before that.
    drop(c);
    let cached = gpu.stats().bytes_cached;
    let e = gpu.tensor(&y, [SIZE; 2]).unwrap();
    assert_eq!(gpu.stats().bytes_cached, cached, "the upload has not taken it");
    // A result may: launches run in order.
    let before = gpu.stats().buffers_created;
    let f = matmul(&e, &a).unwrap();
    assert_eq!(gpu.stats().buffers_created, before, "a product has taken it");
    assert_eq!(d.to_vec().unwrap(), product(&product(&x, &x), &x));
    assert_eq!(f.to_vec().unwrap(), product(&y, &x));
    // After a submit it is free for uploads too.
    drop(f);
    let g = gpu.tensor(&x, [SIZE; 2]).unwrap();
    assert_eq!(gpu.stats().buffers_created, before, "the upload has taken it");
    assert_eq!(g.to_vec().unwrap(), x);
}

#[test]
fn drops_reuses_and_overwrites_in_any_order_keep_every_value() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let mut live: Vec<(Tensor<f32>, Vec<f32>)> =
        (0..4).map(|i| (gpu.tensor(&data(i), [SIZE; 2]).unwrap(), data(i))).collect();
    let choose = |at: usize, among: usize| at.wrapping_mul(2_654_435_761) % 0x1_0000_0000 / 7919 % among;
    let bounded = |values: &[f32]| values.iter().map(|v| v % 4.0).collect::<Vec<f32>>();
    for step in 0..400 {
        let (i, j) = (choose(3 * step, live.len()), choose(3 * step + 1, live.len()));
        match choose(3 * step + 2, 10) {
            0..=2 => {
                let c = matmul(&live[i].0, &live[j].0).unwrap();
                let want = product(&live[i].1, &live[j].1);
                // Small enough to stay exact: large products are read, folded and uploaded anew.
                if want.iter().any(|v| v.abs() > 1000.0) {
                    assert_eq!(c.to_vec().unwrap(), want, "step {step}");
                    live.push((gpu.tensor(&bounded(&want), [SIZE; 2]).unwrap(), bounded(&want)));
                } else {
                    live.push((c, want));
                }
            }
            3 => live.push((gpu.tensor(&data(step as u64), [SIZE; 2]).unwrap(), data(step as u64))),
            4 => {
                let new = data(1000 + step as u64);
                live[i].0.write(&new).unwrap();
                live[i].1 = new;
            }
            5 => {
                // A transposed copy: a launch that reads, whose source may be dropped at once.
                let (tensor, values) = live.swap_remove(i);
                let want = (0..SIZE * SIZE).map(|e| values[e % SIZE * SIZE + e / SIZE]).collect();
                live.push((tensor.t().contiguous().unwrap(), want));
            }
            _ if live.len() > 8 => drop(live.swap_remove(i)),
            _ => assert_eq!(live[j].0.to_vec().unwrap(), live[j].1, "step {step}"),
        }
    }
    let stats = gpu.stats();
    assert!(stats.launches > 100, "{stats:?}");
    assert!(
        stats.buffers_created * 256 <= 2 * stats.bytes_peak,
        "hardly more than were in use at once: {stats:?}"
    );
    for (at, (tensor, want)) in live.iter().enumerate() {
        assert_eq!(&tensor.to_vec().unwrap(), want, "tensor {at}");
    }
}

#[test]
fn a_write_comes_after_everything_that_was_recorded_before() {
    let Some(gpu) = support::own(|options| options.submission = Submission::Batched) else { return };
    let (x, y) = (data(1), data(2));
    let mut a = gpu.tensor(&x, [SIZE; 2]).unwrap();
    let old = matmul(&a, &a).unwrap();
    let submits = gpu.stats().submits;
    a.write(&y).unwrap();
    assert_eq!(gpu.stats().submits - submits, 1, "what reads it is submitted first");
    a.write(&y).unwrap();
    assert_eq!(gpu.stats().submits - submits, 1, "nothing that is open touches it");
    let new = matmul(&a, &a).unwrap();
    assert_eq!(old.to_vec().unwrap(), product(&x, &x));
    assert_eq!(new.to_vec().unwrap(), product(&y, &y));
    assert_eq!(a.to_vec().unwrap(), y);
}

#[test]
fn buffers_go_back_to_the_pool_at_their_last_drop() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let a = gpu.zeros::<f32>([100, 100]).unwrap();
    let (view, clone) = (a.t(), a.clone());
    let held = gpu.stats();
    assert!(held.bytes_in_use >= 40_000 && held.bytes_cached == 0, "{held:?}");
    drop(a);
    drop(clone);
    assert_eq!(gpu.stats().bytes_in_use, held.bytes_in_use, "a view still holds it");
    drop(view);
    let free = gpu.stats();
    assert_eq!((free.bytes_in_use, free.bytes_cached), (0, held.bytes_in_use));
    let b = gpu.zeros::<f16>([200, 99]).unwrap();
    let again = gpu.stats();
    assert_eq!((again.buffers_created, again.bytes_cached), (held.buffers_created, 0), "{again:?}");
    assert_eq!(again.bytes_peak, held.bytes_peak);
    assert_eq!(b.to_vec().unwrap(), vec![f16::ZERO; 200 * 99]);
}

#[test]
fn work_is_timed_by_the_devices_clock() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let a = gpu.random::<f32>([64, 64], Fill::Integers, 1).unwrap();
    let want = matmul(&a, &a).unwrap().to_vec().unwrap();
    let wall = std::time::Instant::now();
    let (c, timing) = gpu.time(|| matmul(&a, &a)).unwrap();
    let wall = wall.elapsed().as_secs_f64();
    assert_eq!(timing.clock, if gpu.caps().timestamps { Clock::Gpu } else { Clock::Host });
    assert!(timing.seconds > 0.0 && timing.seconds <= wall, "{timing:?} within {wall} s");
    assert_eq!(c.to_vec().unwrap(), want);
    fails(gpu.time(|| matmul(&a, &gpu.zeros::<f32>([3, 3])?)), Kind::Shape, &[]);
    if gpu.caps().timestamps {
        let many = || (0..64).try_for_each(|_| matmul(&a, &a).map(drop));
        for error in [
            gpu.time(|| Ok(())).unwrap_err(),
            gpu.time(|| matmul(&a, &a)?.to_vec().map(drop)).unwrap_err(),
            gpu.time(|| matmul(&a, &a).and_then(|_| gpu.flush())).unwrap_err(),
            gpu.time(many).unwrap_err(),
        ] {
            assert!(
                matches!(error, Error::Input { .. }) && error.to_string().contains("Gpu::time"),
                "{error}"
            );
        }
    }
    assert_eq!(matmul(&a, &a).unwrap().to_vec().unwrap(), want, "recording goes on");
    let (c, timing) = gpu
        .time(|| (0..62).try_for_each(|_| matmul(&a, &a).map(drop)).and_then(|()| matmul(&a, &a)))
        .unwrap();
    assert!(timing.seconds > 0.0, "63 launches fit, whatever is predicted");
    assert_eq!(c.to_vec().unwrap(), want);
}

/// The plainest executor there is: one thread that sleeps until it is woken. None after ten seconds.
fn block_on<F: Future>(future: F) -> Option<F::Output> {
    #[derive(Default)]
    struct Alarm(Mutex<bool>, Condvar);
    impl Wake for Alarm {
        fn wake(self: Arc<Self>) {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
            self.1.notify_one();
        }
    }
    let alarm = Arc::new(Alarm::default());
    let waker = Waker::from(alarm.clone());
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(output);
        }
        let woken = alarm.0.lock().unwrap_or_else(PoisonError::into_inner);
        let limit = Duration::from_secs(10);
        let (mut woken, timeout) = alarm.1.wait_timeout_while(woken, limit, |woken| !*woken).unwrap();
        if timeout.timed_out() {
            return None;
        }
        *woken = false;
    }
}

#[test]
fn reads_complete_under_any_executor_and_in_any_order() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let (x, y) = (data(1), data(2));
    let (a, b) = (gpu.tensor(&x, [SIZE; 2]).unwrap(), gpu.tensor(&y, [SIZE; 2]).unwrap());
    let c = matmul(&a, &b).unwrap();
    assert_eq!(pollster::block_on(c.read()).unwrap(), product(&x, &y));
    assert_eq!(block_on(c.read()).expect("the waker is called").unwrap(), product(&x, &y));
    let (first, second) = (c.read(), b.read());
    assert_eq!(
        block_on(second).expect("the waker is called").unwrap(),
        y,
        "two in flight, the later one first"
    );
    assert_eq!(pollster::block_on(first).unwrap(), product(&x, &y));
    let (first, second, third) = (a.read(), matmul(&a, &a).unwrap().read(), c.t().read());
    let all = block_on(futures::future::join3(third, first, second)).expect("the waker is called");
    let transposed = (0..SIZE * SIZE).map(|e| product(&x, &y)[e % SIZE * SIZE + e / SIZE]).collect();
    assert_eq!((all.0.unwrap(), all.1.unwrap(), all.2.unwrap()), (transposed, x.clone(), product(&x, &x)));
    let moved = a.read();
    let handle = std::thread::spawn(move || pollster::block_on(moved));
    assert_eq!(handle.join().unwrap().unwrap(), x, "on another thread than it began on");
    let empty = gpu.zeros::<f32>([0, 3]).unwrap();
    assert_eq!(block_on(empty.read()).expect("at once").unwrap(), Vec::<f32>::new());
}

#[test]
fn a_read_sees_what_was_recorded_before_it_and_nothing_after() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let mut a = gpu.tensor(&data(1), [SIZE; 2]).unwrap();
    let read = a.read();
    a.write(&data(2)).unwrap();
    assert_eq!(pollster::block_on(read).unwrap(), data(1));
    assert_eq!(a.to_vec().unwrap(), data(2));
}

#[test]
fn a_read_that_is_given_up_leaves_nothing_behind() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let a = gpu.tensor(&data(1), [SIZE; 2]).unwrap();
    assert_eq!(a.to_vec().unwrap(), data(1));
    let before = gpu.stats();
    for i in 0..200 {
        let mut read: Pin<Box<dyn Future<Output = _>>> = Box::pin(a.read());
        if i % 2 == 0 {
            let _ = read.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        }
        drop(read);
    }
    let after = gpu.stats();
    assert_eq!((after.bytes_in_use, after.buffers_created), (before.bytes_in_use, before.buffers_created));
    assert_eq!(pollster::block_on(a.read()).unwrap(), data(1));
    assert_eq!(a.to_vec().unwrap(), data(1));
}
