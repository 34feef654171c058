//! Calls that must return, counters that must not run away, memory that must stay bounded.

use crate::api;
use crate::held::integers;
use crate::random::Random;
use crate::support;
use crate::watchdog::doing;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use tilewise::gpu::Polling;
use tilewise::gpu::{CacheFolder, Submission};
use tilewise::{Error, Gpu, GpuOptions, Result, matmul, ops, wgpu};

#[test]
fn asynchronous_reads_of_an_adopted_device_complete_without_the_application() {
    for change in [
        |_: &mut wgpu::DeviceDescriptor| (),
        |desc: &mut wgpu::DeviceDescriptor| {
            desc.required_features = wgpu::Features::empty();
            desc.required_limits = wgpu::Limits::default();
        },
    ] {
        let Some(application) = support::application(change) else { return };
        let _doing = doing("asynchronous reads of an adopted device that nobody polls");
        let gpu = api::adopt(application, GpuOptions::from_env().unwrap(), Polling::Tilewise).unwrap();
        let a = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
        for _ in 0..20 {
            assert_eq!(api::finish(matmul(&a, &a).unwrap().read()).unwrap(), [7.0, 10.0, 15.0, 22.0]);
        }
    }
}

#[test]
fn adopting_without_blocking_completes_without_the_application() {
    let Some((adapter, device, queue)) = support::application(|_| ()) else { return };
    let _doing = doing("adopting a device that nobody polls");
    // Nothing is known of the rows without a cache, so that the self-test runs.
    let options = GpuOptions { cache: CacheFolder::Off, ..GpuOptions::from_env().unwrap() };
    let gpu = api::finish(Gpu::adopt_with_async(&adapter, device, queue, options)).unwrap();
    assert_eq!(gpu.tensor(&[1.0f32], [1]).unwrap().to_vec().unwrap(), [1.0]);
}

#[test]
fn every_call_on_a_lost_adopted_device_returns_before_the_application_polls() {
    let Some((adapter, device, queue)) = support::application(|_| ()) else { return };
    let options = GpuOptions::from_env().unwrap();
    let gpu = api::adopt((adapter, device.clone(), queue), options, Polling::Application).unwrap();
    let mut a = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
    let sum = ops::add(&a, &a).unwrap();
    assert_eq!(sum.to_vec().unwrap(), [2.0, 4.0, 6.0, 8.0]);
    let recorded = ops::add(&a, &sum).unwrap();
    device.destroy();
    let read = a.read();
    let calls: [(&str, &mut dyn FnMut() -> Result<()>); 9] = [
        ("tensor", &mut || gpu.tensor(&[1.0f32], [1]).map(drop)),
        ("large tensor", &mut || gpu.tensor(&vec![1.0f32; 1 << 20], [1 << 20]).map(drop)),
        ("add", &mut || ops::add(&a.clone(), &a).map(drop)),
        ("matmul", &mut || matmul(&a, &a).map(drop)),
        ("time", &mut || gpu.time(|| ops::add(&sum, &sum)).map(drop)),
        ("flush", &mut || gpu.flush()),
        ("to_vec", &mut || recorded.to_vec().map(drop)),
        ("read", &mut || {
            drop(sum.read());
            Ok(())
        }),
        ("wait", &mut || gpu.wait()),
    ];
    for (name, call) in calls {
        let _doing = doing(format!("{name} on a lost device"));
        match catch_unwind(AssertUnwindSafe(call)) {
            Ok(Ok(()) | Err(Error::Device(_))) => {}
            Ok(Err(error)) => panic!("{name} on a lost device: {error:?}"),
            Err(_) => panic!("{name} on a lost device panics"),
        }
    }
    let _doing = doing("write and drop on a lost device");
    let written = catch_unwind(AssertUnwindSafe(|| a.write(&[0.0; 4])));
    assert!(matches!(written, Ok(Ok(()) | Err(Error::Device(_)))), "{written:?}");
    assert!(recorded.to_vec().is_err(), "it was never submitted");
    drop((read, a, sum, recorded, gpu));
}

#[test]
fn the_pools_count_stays_within_its_bound() {
    const BUDGET: u64 = 1 << 20;
    let Some(gpu) = support::own(|options| options.memory_budget = Some(BUDGET)) else { return };
    let mut random = Random::new(&[6]);
    let mut held = Vec::new();
    for step in 0..5000 {
        let _doing = doing(format!("step {step}"));
        match random.below(3) {
            0 if !held.is_empty() => drop(held.swap_remove(random.below(held.len()))),
            _ => match gpu.empty::<f32>([1 + random.below(40_000)]) {
                Ok(tensor) => held.push(tensor),
                Err(error) => {
                    assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
                    let keep = random.below(held.len());
                    held.truncate(keep);
                }
            },
        }
        let stats = gpu.stats();
        let taken = stats.bytes_in_use.checked_add(stats.bytes_cached);
        assert!(taken.is_some_and(|bytes| bytes <= BUDGET), "step {step}: {stats:?}");
        let least: u64 = held.iter().map(|tensor| 4 * tensor.len() as u64).sum();
        assert!(stats.bytes_in_use >= least && stats.bytes_peak <= BUDGET, "step {step}: {stats:?}");
    }
    held.clear();
    assert_eq!(gpu.stats().bytes_in_use, 0, "all is dropped");
}

#[test]
fn uploads_without_a_submit_take_bounded_memory() {
    const MIB: usize = 1 << 20;
    let Some(gpu) = support::own(|options| options.memory_budget = Some(64 << 20)) else { return };
    let Some(before) = resident() else { return };
    let (mut values, mut most) = (vec![0.0f32; MIB], before);
    let mut tensor = gpu.zeros::<f32>([MIB]).unwrap();
    // 1.5 GiB in all.
    for round in 0..384u16 {
        let _doing = doing(format!("upload {round}"));
        values[usize::from(round)] = f32::from(round);
        tensor.write(&values).unwrap();
        most = most.max(resident().expect("it was there before"));
    }
    let mib = (most - before) >> 20;
    println!("{mib} MiB more");
    assert!(mib < 900, "uploads of 4 MiB have taken {mib} MiB");
    assert_eq!(tensor.to_vec().unwrap(), values);
    drop(tensor);
    assert_eq!(gpu.stats().bytes_in_use, 0);
}

/// Bytes of this process in memory, where the system tells.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}

#[test]
fn a_panic_while_timing_leaves_the_device_as_it_was() {
    let Some(gpu) = support::own(|options| options.submission = Submission::EachLaunch) else { return };
    let _doing = doing("a panic while timing");
    let a = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
    let timed = || {
        gpu.time(|| -> Result<()> {
            drop(ops::add(&a, &a)?);
            resume_unwind(Box::new("on purpose"))
        })
    };
    assert!(catch_unwind(AssertUnwindSafe(timed)).is_err(), "the panic is the caller's");
    // What is timed is not submitted by itself; all else is, again.
    let submits = gpu.stats().submits;
    let sums: Vec<_> = (0..5).map(|_| ops::add(&a, &a).unwrap()).collect();
    assert!(gpu.stats().submits >= submits + 5, "{:?}", gpu.stats());
    for sum in sums {
        assert_eq!(integers(&sum.to_vec().unwrap()), [2, 4, 6, 8]);
    }
    let (sum, timing) = gpu.time(|| ops::add(&a, &a)).unwrap();
    assert!(timing.seconds >= 0.0 && integers(&sum.to_vec().unwrap()) == [2, 4, 6, 8], "{timing:?}");
}
