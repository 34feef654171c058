//! Memory that grows if nobody polls, or after devices are dropped.

use std::task::{Context, Poll, Waker};
use support::process;
use tilewise::{Gpu, GpuOptions, Tensor, matmul, ops};

/// Repetitions: those that were reported, or a part of them.
fn times(reported: usize, usual: usize) -> usize {
    if support::is_full_sweep() { reported } else { usual }
}

/// Bytes of this process that are in memory; 0 where the system does not say. It counts what other tests take at the same time,
/// so its callers run in a process of their own.
fn resident() -> u64 {
    process::bytes("VmRSS").unwrap_or(0)
}

fn small(gpu: &Gpu, value: f32) -> Tensor<f32> {
    gpu.tensor(&[value; 64], [8, 8]).unwrap()
}

/// gfx-rs/wgpu#3806, #5860: work that is never waited for takes more and more memory.
#[test]
fn a_chain_of_products_that_is_never_read_stays_small() {
    if !process::is_alone(concat!(module_path!(), "::a_chain_of_products_that_is_never_read_stays_small")) {
        return;
    }
    let Some(gpu) = support::own(|_| ()) else { return };
    let eighth = small(&gpu, 0.125);
    let mut x = small(&gpu, 1.0);
    let run = |x: Tensor<f32>, times: usize| (0..times).fold(x, |x, _| matmul(&x, &eighth).unwrap());
    x = run(x, 200);
    let (stats, before) = (gpu.stats(), resident());
    x = run(x, times(60_000, 3_000));
    let (after, grown) = (gpu.stats(), resident().saturating_sub(before));
    // Two results are alive at a time, others wait for the device.
    assert!(after.bytes_in_use <= stats.bytes_in_use + 4096, "{after:?}");
    assert!(after.buffers_created - stats.buffers_created < 200, "{after:?}");
    assert!(grown < 64 << 20, "{grown} bytes");
    assert_eq!(x.to_vec().unwrap(), [1.0; 64]);
}

/// gfx-rs/wgpu#5940, #5648: writes and uploads without a submission are kept.
#[test]
fn writes_and_dropped_uploads_are_given_back() {
    if !process::is_alone(concat!(module_path!(), "::writes_and_dropped_uploads_are_given_back")) {
        return;
    }
    let Some(gpu) = support::own(|_| ()) else { return };
    // 64 KiB each: half a GiB of writes, of which 64 MiB wait for a submission, and more for the device.
    const LEN: usize = 1 << 14;
    let mut x = gpu.zeros::<f32>([LEN]).unwrap();
    let mut values = vec![0.0f32; LEN];
    let (stats, before) = (gpu.stats(), resident());
    for write in 0..8_000u16 {
        values[usize::from(write)] = write.into();
        x.write(&values).unwrap();
    }
    (0..times(2_000, 500)).for_each(|_| drop(gpu.tensor(&values, [LEN]).unwrap()));
    assert_eq!(x.to_vec().unwrap(), values);
    let (after, grown) = (gpu.stats(), resident().saturating_sub(before));
    assert_eq!(after.bytes_in_use, stats.bytes_in_use, "{after:?}");
    assert!(grown < 400 << 20, "{grown} bytes");
}

/// The same reports: reads that nobody waits for.
#[test]
fn reads_that_are_dropped_are_given_back() {
    if !process::is_alone(concat!(module_path!(), "::reads_that_are_dropped_are_given_back")) {
        return;
    }
    let Some(gpu) = support::own(|_| ()) else { return };
    let x = gpu.tensor(&[3.0f32; 1024], [1024]).unwrap();
    let started = |times: usize| -> Vec<_> {
        let start = |_| {
            let mut read = Box::pin(x.read());
            let polled = read.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            (read, matches!(polled, Poll::Ready(_)))
        };
        (0..times).map(start).collect()
    };
    drop(started(50));
    x.to_vec().unwrap();
    let before = resident();
    for (read, is_done) in started(times(400, 100)) {
        if !is_done {
            assert_eq!(pollster::block_on(read).unwrap(), [3.0; 1024]);
        }
    }
    for _ in 0..times(40, 10) {
        drop(started(50));
    }
    assert_eq!(x.to_vec().unwrap(), [3.0; 1024]);
    let grown = resident().saturating_sub(before);
    assert!(grown < 64 << 20, "{grown} bytes");
}

/// wez/wezterm#8184 (2026): every device that was dropped leaves memory behind.
#[test]
fn dropped_devices_leave_nothing_behind() {
    if !process::is_alone(concat!(module_path!(), "::dropped_devices_leave_nothing_behind")) {
        return;
    }
    let Some(_) = support::gpu() else { return };
    let round = || {
        let gpu = Gpu::open_with(GpuOptions::from_env().unwrap()).unwrap();
        assert_eq!(matmul(&small(&gpu, 1.0), &small(&gpu, 1.0)).unwrap().to_vec().unwrap(), [8.0; 64]);
    };
    (0..3).for_each(|_| round());
    let before = resident();
    let rounds: u64 = if support::is_full_sweep() { 30 } else { 6 };
    (0..rounds).for_each(|_| round());
    let grown = resident().saturating_sub(before);
    assert!(grown < rounds * (4 << 20), "{grown} bytes for {rounds} devices");
}

/// The same reports: each length leaves its buffer behind.
#[test]
fn many_lengths_share_their_memory() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let run = |len: usize| {
        let x = gpu.tensor(&vec![1.0f32; len], [len]).unwrap();
        assert_eq!(ops::sum(&x, 0).unwrap().to_vec().unwrap(), [len as f32]);
    };
    (1..100).for_each(run);
    let stats = gpu.stats();
    (100..100 + times(3_000, 400)).for_each(run);
    let after = gpu.stats();
    assert_eq!(after.bytes_in_use, stats.bytes_in_use, "{after:?}");
    assert!(after.bytes_cached < 16 << 20, "{after:?}");
    assert_eq!(after.pipelines, stats.pipelines, "one kernel for all lengths");
}
