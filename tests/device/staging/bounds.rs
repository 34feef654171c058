//! The bounds of staging memory hold over many steps, for threads, and for what is larger than the ring.

use super::{TINY, on_every_device, values, with_ring};
use pollster::block_on;
use support::watchdog::in_time;
use tilewise::{Gpu, matmul, ops};

fn ring(gpu: &Gpu) -> u64 {
    let stats = gpu.stats();
    stats.bytes_upload_ring + stats.bytes_upload_ring_free
}

#[test]
fn a_thousand_steps_do_not_grow() {
    let Some(gpu) = with_ring(16 << 10) else { return };
    in_time("a thousand steps", || {
        let mut x = gpu.zeros::<f32>([16, 16]).unwrap();
        let (mut bytes, mut buffers) = (0, 0);
        for step in 0..1000u16 {
            x.write_from(|to| to.fill((step % 7).into())).unwrap();
            let product = matmul(&x, &x).unwrap();
            let read = product.read();
            let want = f32::from(step % 7).powi(2) * 16.0;
            if step % 3 == 0 {
                assert_eq!(block_on(read).unwrap(), [want; 256], "step {step}");
            }
            assert!(ring(&gpu) <= 16 << 10, "step {step}: {:?}", gpu.stats());
            if step == 100 {
                (bytes, buffers) = (gpu.stats().bytes_peak, gpu.stats().buffers_created);
            }
        }
        assert_eq!((gpu.stats().bytes_peak, gpu.stats().buffers_created), (bytes, buffers));
        gpu.wait().unwrap();
        assert_eq!(gpu.stats().bytes_upload_ring, 0);
        gpu.trim();
        assert_eq!(ring(&gpu), 0);
    });
}

#[test]
fn a_ring_of_one_buffer_serves_every_size() {
    let Some(gpu) = with_ring(TINY) else { return };
    in_time("a tiny ring", || {
        for len in [1, 64, 65, 1000, 5000] {
            let data = values::<f32>(len, 3);
            let mut x = gpu.zeros::<f32>([len]).unwrap();
            for _ in 0..3 {
                x.write_from(|to| to.write(0, &data)).unwrap();
                let sum = ops::add(&x, &x).unwrap();
                let uploaded = block_on(gpu.upload_async(&data, [len])).unwrap();
                assert!(ring(&gpu) <= TINY.max(4 * len as u64 * 5 / 4 + 512), "{len}: {:?}", gpu.stats());
                assert_eq!(uploaded.to_vec().unwrap(), data);
                assert_eq!(sum.to_vec().unwrap(), data.iter().map(|v| v + v).collect::<Vec<_>>());
            }
        }
        gpu.wait().unwrap();
        assert!(ring(&gpu) <= TINY, "{:?}", gpu.stats());
    });
}

#[test]
fn an_upload_that_is_larger_than_the_ring_goes_in_pieces() {
    let Some(gpu) = with_ring(4096) else { return };
    in_time("pieces", || {
        let data = values::<f32>(10_001, 5);
        let x = block_on(gpu.upload_async(&data, [73, 137])).unwrap();
        assert!(ring(&gpu) <= 4096, "{:?}", gpu.stats());
        assert_eq!(x.to_vec().unwrap(), data);
        let both =
            futures::future::join(gpu.upload_async(&data, [10_001]), gpu.upload_async(&data[..9999], [9999]));
        let (first, second) = block_on(both);
        assert_eq!(first.unwrap().to_vec().unwrap(), data);
        assert_eq!(second.unwrap().to_vec().unwrap(), data[..9999]);
        assert!(ring(&gpu) <= 4096, "{:?}", gpu.stats());
    });
}

#[test]
fn threads_share_a_ring() {
    let Some(gpu) = with_ring(2048) else { return };
    in_time("threads", || {
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                let gpu = (*gpu).clone();
                scope.spawn(move || {
                    let mut x = gpu.zeros::<f32>([100]).unwrap();
                    for step in 0..50 {
                        let data = values::<f32>(100, thread * 1000 + step);
                        if step % 2 == 0 {
                            x.write_from(|to| to.write(0, &data)).unwrap();
                        } else {
                            x = block_on(gpu.upload_async(&data, [100])).unwrap();
                        }
                        let sum = ops::add(&x, &x).unwrap();
                        if step % 5 == 0 {
                            let want: Vec<f32> = data.iter().map(|v| v + v).collect();
                            assert_eq!(sum.to_vec().unwrap(), want, "thread {thread}, step {step}");
                        }
                    }
                });
            }
        });
        gpu.wait().unwrap();
        assert!(ring(&gpu) <= 2048, "{:?}", gpu.stats());
    });
}

#[test]
fn copies_alone_are_submitted_by_themselves() {
    on_every_device("copies alone", |gpu| {
        let mut x = gpu.zeros::<f32>([4]).unwrap();
        gpu.wait().unwrap();
        let submits = gpu.stats().submits;
        for step in 0..130u8 {
            x.write_from(|to| to.fill(step.into())).unwrap();
        }
        assert_eq!(gpu.stats().submits - submits, 2, "{gpu:?}");
        assert_eq!(x.to_vec().unwrap(), [129.0; 4]);
    });
}
