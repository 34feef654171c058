//! Futures that are dropped, closures that panic, devices that are lost: nothing hangs, and the bytes come back.

use super::{TINY, on_every_device, values, with_ring};
use pollster::block_on;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Waker};
use support::failure::{Kind, fails};
use support::watchdog::in_time;
use tilewise::{Gpu, ops};

#[test]
fn a_dropped_upload_gives_its_bytes_back() {
    let Some(gpu) = with_ring(TINY) else { return };
    in_time("dropped uploads", || {
        let data = values::<f32>(1000, 1);
        for polls in 0..4 {
            let mut upload = pin!(gpu.upload_async(&data, [1000]));
            for _ in 0..polls {
                let _ = upload.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            }
        }
        gpu.wait().unwrap();
        assert_eq!(gpu.stats().bytes_upload_ring, 0);
        assert_eq!(block_on(gpu.upload_async(&data, [1000])).unwrap().to_vec().unwrap(), data);
    });
}

#[test]
fn a_panic_while_elements_are_filled_records_nothing() {
    on_every_device("a panic", |gpu| {
        let mut x = gpu.tensor(&[1.0f32; 3], [3]).unwrap();
        let panicked = catch_unwind(AssertUnwindSafe(|| x.write_from(|to| to.write(1, &[5.0; 3]))));
        assert!(panicked.is_err(), "three elements do not fit behind the first");
        assert_eq!(gpu.stats().bytes_upload_ring, 0);
        assert_eq!(x.to_vec().unwrap(), [1.0; 3]);
        x.write_from(|to| to.fill(2.0)).unwrap();
        assert_eq!(x.to_vec().unwrap(), [2.0; 3]);
    });
}

/// While the closure fills elements, no lock is held: it may use the device, and the ring.
#[test]
fn the_closure_may_write_other_tensors() {
    let Some(gpu) = with_ring(TINY) else { return };
    in_time("nested writes", || {
        let [mut x, mut y] = [1.0f32, 2.0].map(|v| gpu.tensor(&[v; 8], [8]).unwrap());
        x.write_from(|to| {
            y.write_from(|to| to.fill(5.0)).unwrap();
            to.fill(ops::add(&y, &y).unwrap().to_vec().unwrap()[0]);
        })
        .unwrap();
        assert_eq!((x.to_vec().unwrap(), y.to_vec().unwrap()), (vec![10.0; 8], vec![5.0; 8]));
    });
}

fn lose(gpu: &Gpu, how: fn(&Gpu)) {
    in_time("a lost device", || {
        let mut x = gpu.zeros::<f32>([8]).unwrap();
        x.write_from(|to| to.fill(1.0)).unwrap();
        let data = values::<f32>(4000, 1);
        let mut upload = Box::pin(gpu.upload_async(&data, [4000]));
        let begun = upload.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        how(gpu);
        let lost = |result: tilewise::Result<()>| {
            fails(result, Kind::Device, &[]);
        };
        if begun.is_pending() {
            lost(block_on(upload).map(drop).and_then(|()| gpu.wait()));
        }
        for _ in 0..4 {
            lost(x.write_from(|to| to.fill(2.0)).and_then(|()| gpu.wait()));
        }
        lost(block_on(gpu.upload_async(&data, [4000])).map(drop));
        lost(x.to_vec().map(drop));
    });
}

#[test]
fn a_lost_device_lets_nobody_wait() {
    for how in [|gpu: &Gpu| gpu.mark_lost("the cable was pulled"), |gpu: &Gpu| gpu.device().destroy()] {
        if let Some(gpu) = with_ring(TINY) {
            lose(&gpu, how);
        }
        if let Some(gpu) = support::bare() {
            lose(&gpu, how);
        }
    }
}

#[test]
fn a_future_can_go_to_another_thread() {
    fn is_send(_: impl Send) {}
    let Some(gpu) = support::gpu() else { return };
    is_send(gpu.upload_async(&[1.0f32], [1]));
}
