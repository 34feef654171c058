//! Reads without a vector of their own, and the ring that bounds reads under way.

use super::{TINY, on_every_device, values, with_ring};
use futures::future::{join, join_all};
use pollster::block_on;
use support::failure::{Kind, fails};
use support::watchdog::in_time;
use tilewise::gpu::AdoptOptions;
use tilewise::{Element, Gpu, GpuOptions, f16, matmul, ops, wgpu};

fn read_in_every_way<T: Element>(gpu: &Gpu) {
    for len in [1, 3, 64, 129] {
        let data = values::<T>(3 * len, 1);
        let x = gpu.tensor(&data, [len, 3]).unwrap();
        let wide = |values: &[T]| values.iter().map(|v| v.to_f64()).collect::<Vec<_>>();
        for view in [x.clone(), x.t(), x.slice(0, len - 1..len).unwrap(), x.slice(1, 1..2).unwrap()] {
            let want = wide(&view.to_vec().unwrap());
            let mut out = vec![T::from_f64(1.0); view.len()];
            view.read_into(&mut out).unwrap();
            assert_eq!(wide(&out), want, "{gpu:?} {:?}", view.layout());
            assert_eq!(block_on(view.read_with(wide)).unwrap(), want, "{gpu:?} {:?}", view.layout());
            fails(view.read_into(&mut out[1..]), Kind::Shape, &["^read_into: "]);
        }
    }
    let none = gpu.zeros::<T>([3, 0]).unwrap();
    none.read_into(&mut []).unwrap();
    assert_eq!(block_on(none.read_with(<[T]>::len)).unwrap(), 0);
}

#[test]
fn every_way_of_reading_gives_the_same_elements() {
    on_every_device("every way", |gpu| {
        read_in_every_way::<f32>(gpu);
        read_in_every_way::<f16>(gpu);
        read_in_every_way::<i8>(gpu);
    });
}

#[test]
fn reads_that_nobody_awaits_block_no_other() {
    let Some(gpu) = with_ring(TINY) else { return };
    in_time("held reads", || {
        let x = gpu.tensor(&values::<f32>(64, 1), [8, 8]).unwrap();
        let held: Vec<_> = (0..5).map(|_| x.read()).collect();
        assert!(gpu.stats().bytes_read_ring >= 5 * TINY, "{:?}", gpu.stats());
        let want = values::<f32>(64, 1);
        assert_eq!(x.to_vec().unwrap(), want);
        let mut out = [0.0; 64];
        x.read_into(&mut out).unwrap();
        assert_eq!(out[..], want);
        assert_eq!(block_on(x.read_with(<[f32]>::to_vec)).unwrap(), want);
        let large = gpu.tensor(&values::<f32>(1000, 2), [1000]).unwrap();
        assert_eq!(block_on(large.read_with(<[f32]>::to_vec)).unwrap(), large.to_vec().unwrap());
        for read in held {
            assert_eq!(block_on(read).unwrap(), want);
        }
        let stats = gpu.stats();
        assert!(stats.bytes_read_ring == 0 && stats.bytes_staging_cached <= TINY, "{stats:?}");
    });
}

#[test]
fn dropped_reads_give_their_bytes_back() {
    let Some(gpu) = with_ring(1024) else { return };
    in_time("dropped reads", || {
        let x = gpu.zeros::<f32>([64]).unwrap();
        for step in 0..200 {
            drop(x.read());
            let sum = ops::add(&x, &x).unwrap();
            if step % 10 == 0 {
                assert_eq!(sum.to_vec().unwrap(), [0.0; 64]);
            }
        }
        gpu.wait().unwrap();
        assert_eq!(gpu.stats().bytes_read_ring, 0);
    });
}

#[test]
fn many_reads_share_a_small_ring() {
    let Some(gpu) = with_ring(512) else { return };
    in_time("many reads", || {
        let tensors: Vec<_> =
            (0..20).map(|seed| gpu.tensor(&values::<f32>(64, seed), [64]).unwrap()).collect();
        let all = block_on(join_all(tensors.iter().map(|x| x.read_with(<[f32]>::to_vec))));
        for (seed, values) in all.into_iter().enumerate() {
            assert_eq!(values.unwrap(), super::values::<f32>(64, seed as u64));
        }
        std::thread::scope(|scope| {
            for x in &tensors {
                scope.spawn(move || {
                    let mut out = [0.0; 64];
                    for _ in 0..10 {
                        x.read_into(&mut out).unwrap();
                        assert_eq!(out[..], block_on(x.read_with(<[f32]>::to_vec)).unwrap());
                    }
                });
            }
        });
        assert_eq!(gpu.stats().bytes_read_ring, 0);
    });
}

/// Nobody of ours polls there: futures that wait for room continue on the application's polls.
#[test]
fn full_rings_on_a_device_that_the_application_polls() {
    let Some((adapter, device, queue)) = support::application(|_| ()) else { return };
    let options = GpuOptions { staging_bytes: Some(TINY), ..GpuOptions::from_env().unwrap() };
    let options = AdoptOptions::from(options).polled_by_application();
    let gpu = Gpu::adopt_with(&adapter, device.clone(), queue, options).unwrap();
    in_time("an application that polls", || {
        let data = values::<f32>(500, 1);
        let work = async {
            let (x, y) = join(gpu.upload_async(&data, [500]), gpu.upload_async(&data[..64], [64])).await;
            let (x, y) = (x.unwrap(), y.unwrap());
            let reads = join_all((0..4).map(|_| y.read_with(<[f32]>::to_vec))).await;
            assert!(reads.into_iter().all(|read| read.unwrap() == data[..64]));
            x.read_with(<[f32]>::to_vec).await.unwrap()
        };
        let mut work = std::pin::pin!(work);
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let read = loop {
            if let std::task::Poll::Ready(read) = work.as_mut().poll(&mut context) {
                break read;
            }
            device.poll(wgpu::PollType::Poll).unwrap();
        };
        assert_eq!(read, data);
    });
}

/// The loop that the book shows: the host feeds the next step while the device computes, and reads the last one.
#[test]
fn a_pipelined_loop_has_the_results_of_a_plain_one() {
    on_every_device("a loop", |gpu| {
        let mut x = gpu.zeros::<f32>([8, 8]).unwrap();
        let mut before = None;
        let mut got = Vec::new();
        for step in 0..10 {
            x.write_from(|to| to.write(0, &values(64, step))).unwrap();
            let read = matmul(&x, &x).unwrap().read();
            if let Some(read) = before.replace(read) {
                got.push(block_on(read).unwrap());
            }
        }
        got.extend(before.map(|read| block_on(read).unwrap()));
        for (step, got) in got.into_iter().enumerate() {
            let y = gpu.tensor(&values::<f32>(64, step as u64), [8, 8]).unwrap();
            assert_eq!(got, matmul(&y, &y).unwrap().to_vec().unwrap(), "{gpu:?}, step {step}");
        }
    });
}
