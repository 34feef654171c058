//! Adopting a device again and again: what it costs, and what it leaves behind. In processes of their own, whose memory no
//! other test takes.

use super::square;
use std::time::{Duration, Instant};
use support::{process, watchdog::in_time};
use tilewise::gpu::CacheFolder;
use tilewise::{Gpu, GpuOptions, matmul, wgpu};

const ROUNDS: usize = 1000;

/// Rounds before the first look at memory: caches of the driver, of wgpu and of the allocator fill.
const WARM_UP: usize = 200;

/// Memory that later rounds may take. A leak of one buffer or pipeline a round would be more.
const MAX_GROWTH: u64 = 4 << 20;

/// How long adopting takes at most, at the median, if an earlier run has tested the device.
const MAX_ADOPTION: Duration = Duration::from_millis(20);

/// Adopts and drops, and returns what adopting took at the median.
fn rounds(
    adapter: &wgpu::Adapter,
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    options: &GpuOptions,
) -> Duration {
    let mut took = Vec::new();
    let mut before = None;
    for round in 0..ROUNDS {
        let begun = Instant::now();
        let gpu = Gpu::adopt_with(adapter, device.clone(), queue.clone(), options.clone()).unwrap();
        took.push(begun.elapsed());
        // A device that is adopted and dropped without use, and one whose work is recorded, run or read.
        let a = square(&gpu);
        match round % 4 {
            0 => drop(a),
            1 => drop(matmul(&a, &a).unwrap()),
            2 => gpu.wait().unwrap(),
            _ => assert_eq!(pollster::block_on(a.read()).unwrap().len(), 64),
        }
        drop(gpu);
        if round == WARM_UP {
            before = process::bytes("VmRSS");
        }
    }
    if let (Some(before), Some(after)) = (before, process::bytes("VmRSS")) {
        let grown = after.saturating_sub(before);
        println!("{ROUNDS} rounds: {} KiB more than after {WARM_UP}", grown >> 10);
        assert!(grown < MAX_GROWTH, "{ROUNDS} rounds left {grown} bytes behind");
    }
    took.sort();
    println!("adopting took {:?} at the median, {:?} at most", took[ROUNDS / 2], took[ROUNDS - 1]);
    took[ROUNDS / 2]
}

#[test]
fn a_thousand_adoptions_of_a_noop_device_leave_nothing_behind() {
    let name = concat!(module_path!(), "::a_thousand_adoptions_of_a_noop_device_leave_nothing_behind");
    if !process::is_alone(name) {
        return;
    }
    let adapter = support::noop_adapter();
    let request = Gpu::device_descriptor(&adapter);
    let (device, queue) = pollster::block_on(adapter.request_device(&request)).unwrap();
    let options = GpuOptions { cache: CacheFolder::Off, ..GpuOptions::default() };
    let took = in_time("rounds", || rounds(&adapter, &device, &queue, &options));
    assert!(took < MAX_ADOPTION, "{took:?}");
}

#[test]
fn a_thousand_adoptions_of_a_real_device_leave_nothing_behind_and_each_is_quick() {
    let name = concat!(
        module_path!(),
        "::a_thousand_adoptions_of_a_real_device_leave_nothing_behind_and_each_is_quick"
    );
    if support::first_driver().is_none() || !process::is_alone(name) {
        return;
    }
    let Some((adapter, device, queue)) = support::application(|_| ()) else { return };
    let folder = support::folder("adoptions");
    let options = GpuOptions { cache: CacheFolder::At(folder.clone()), ..GpuOptions::from_env().unwrap() };
    let took = in_time("rounds", || rounds(&adapter, &device, &queue, &options));
    let _ = std::fs::remove_dir_all(folder);
    assert!(took < MAX_ADOPTION, "adopting takes {took:?} though the device is known");
}
