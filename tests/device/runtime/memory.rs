//! Memory: uploads without end, buffers that come out of the pool, budgets, and what is given back.

use super::{SIZE, data, devices, long_work, product, tensor};
use support::watchdog::doing;
use support::{TestGpu, process};
use tilewise::gpu::Stats;
use tilewise::sketch::{Sketch, SketchKind};
use tilewise::{Error, Fill, Gpu, GpuOptions, Tensor, f16, matmul, ops, wgpu};

/// What the application writes into a buffer of ours through its own queue.
fn write_as_application(gpu: &Gpu, buffer: &wgpu::Buffer, values: &[f32]) {
    gpu.queue().write_buffer(buffer, 0, bytemuck::cast_slice(values));
    gpu.queue().submit([]);
}

#[test]
fn what_an_application_writes_into_an_empty_tensor_stays() {
    for gpu in devices() {
        let [a, b] = [tensor(&gpu, 1), tensor(&gpu, 2)];
        for seed in 10..30 {
            // Its buffer goes back to the pool while the recording still writes it, and comes out again as `empty`.
            drop(matmul(&a, &b).unwrap());
            let empty = gpu.empty::<f32>([SIZE; 2]).unwrap();
            write_as_application(&gpu, empty.buffer().unwrap().0, &data(seed));
            let c = matmul(&empty, &a).unwrap();
            assert_eq!(empty.to_vec().unwrap(), data(seed));
            assert_eq!(c.to_vec().unwrap(), product(&data(seed), &data(1)));
        }
    }
}

#[test]
fn a_buffer_is_handed_out_behind_all_that_is_recorded_of_it_and_without_a_submission_where_nothing_is() {
    for gpu in devices() {
        let a = tensor(&gpu, 1);
        let submits = gpu.stats().submits;
        let _ = a.buffer().unwrap();
        assert_eq!(gpu.stats().submits, submits, "nothing recorded uses it");
        let c = matmul(&a, &a).unwrap();
        let _ = c.buffer().unwrap();
        assert_eq!(gpu.stats().submits, submits + 1);
        let _ = (c.buffer().unwrap(), a.buffer().unwrap());
        assert_eq!(gpu.stats().submits, submits + 1, "it is with the queue");
    }
}

#[test]
fn a_buffer_that_an_application_has_seen_is_not_handed_out_again() {
    for gpu in devices() {
        let [a, b] = [tensor(&gpu, 1), tensor(&gpu, 2)];
        let in_use = gpu.stats().bytes_in_use;
        for seed in 10..20 {
            let gone = tensor(&gpu, seed);
            gone.buffer().unwrap().0.destroy();
            drop(gone);
            assert_eq!(gpu.stats().bytes_in_use, in_use);
            let fresh = tensor(&gpu, seed);
            let c = matmul(&a, &b).unwrap();
            assert_eq!(fresh.to_vec().unwrap(), data(seed));
            assert_eq!(c.to_vec().unwrap(), product(&data(1), &data(2)));
        }
    }
}

#[test]
fn uploads_that_nobody_reads_do_not_pile_up_on_the_host() {
    for gpu in devices() {
        const MIB: usize = 1 << 20;
        let bytes = vec![1i8; 8 * MIB];
        let submits = gpu.stats().submits;
        let mut most = 0;
        for _ in 0..40 {
            drop(gpu.tensor(&bytes, [8 * MIB]).unwrap());
            most = most.max(gpu.stats().bytes_staged);
        }
        assert!(most <= 64 << 20, "{most} bytes waited at one time");
        let between = gpu.stats().submits - submits;
        assert!((4..=5).contains(&between), "{between} submissions of 64 MiB each");
        gpu.tensor(&bytes, [8 * MIB]).unwrap();
        assert!(gpu.stats().bytes_staged > 0);
        gpu.flush().unwrap();
        assert_eq!(gpu.stats().bytes_staged, 0, "a flush submits them too");
        let submits = gpu.stats().submits;
        gpu.flush().unwrap();
        assert_eq!(gpu.stats().submits, submits, "and only once");
    }
}

#[test]
fn trimming_gives_all_that_waits_back() {
    for gpu in devices() {
        let a = gpu.zeros::<f32>([300, 100]).unwrap();
        drop(gpu.zeros::<f32>([500, 100]).unwrap());
        assert_eq!(a.to_vec().unwrap(), [0.0; 30_000]);
        let Stats { bytes_in_use, bytes_cached, bytes_staging_cached, .. } = gpu.stats();
        assert!(bytes_cached >= 200_000 && bytes_staging_cached >= 120_000);
        gpu.trim();
        let after = gpu.stats();
        assert_eq!(
            (after.bytes_in_use, after.bytes_cached, after.bytes_staging_cached),
            (bytes_in_use, 0, 0)
        );
        assert!(after.bytes_peak > after.bytes_in_use);
        gpu.reset_peak();
        assert_eq!(gpu.stats().bytes_peak, bytes_in_use);
        assert_eq!(a.to_vec().unwrap(), [0.0; 30_000]);
        drop(a);
        gpu.trim();
        assert_eq!((gpu.stats().bytes_in_use, gpu.stats().bytes_cached), (0, 0));
    }
}

#[test]
fn no_more_waits_than_is_stated() {
    let options = GpuOptions { memory_budget: Some(1 << 20), ..GpuOptions::default() };
    let gpu = support::noop_with(options, |_| ());
    assert_eq!(gpu.stats().bytes_free, Some(1 << 20));
    for round in 0..100 {
        let sizes = [1000, 10_000, 20_000, 50_000 + 500 * round];
        let held: Vec<_> = sizes.iter().map(|&size| gpu.empty::<f32>([size]).unwrap()).collect();
        assert_eq!(gpu.stats().bytes_free, Some((1 << 20) - gpu.stats().bytes_in_use));
        held[0].to_vec().unwrap();
        drop(held);
        let Stats { bytes_in_use, bytes_cached, bytes_staging_cached, .. } = gpu.stats();
        assert_eq!(bytes_in_use, 0);
        assert!(bytes_cached <= 1 << 19, "round {round}: {bytes_cached}");
        assert!(bytes_staging_cached <= 64 << 20);
    }
}

#[test]
fn an_adopted_device_leaves_half_of_its_memory_to_the_application() {
    let Some(gpu) = support::adopted(|_| ()) else { return };
    let memory = gpu.caps().memory.expect("both software drivers tell");
    assert_eq!(gpu.stats().bytes_free, Some(memory / 2));
    let Some(own) = support::own(|_| ()) else { return };
    assert_eq!(own.stats().bytes_free, Some(memory));
}

#[test]
fn the_pools_count_stays_within_its_bound() {
    const BUDGET: u64 = 1 << 20;
    let Some(gpu) = support::own(|options| options.memory_budget = Some(BUDGET)) else { return };
    let chance = Fill::Uniform.values::<i32>(10_000, 6);
    let mut held: Vec<Tensor<f32>> = Vec::new();
    for step in 0..5000 {
        let _doing = doing(format!("step {step}"));
        let below = |at: usize, n: usize| chance[at].unsigned_abs() as usize % n;
        match below(2 * step, 3) {
            0 if !held.is_empty() => drop(held.swap_remove(below(2 * step + 1, held.len()))),
            _ => match gpu.empty::<f32>([1 + below(2 * step + 1, 40_000)]) {
                Ok(tensor) => held.push(tensor),
                Err(error) => {
                    assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
                    let keep = below(2 * step + 1, held.len());
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
    let resident = || process::bytes("VmRSS");
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

/// In a process of its own, whose memory is only this test's.
fn alone(test: &str, body: impl FnOnce(&TestGpu)) {
    if !process::is_alone(&format!("{}::{test}", module_path!())) {
        return;
    }
    if let Some(gpu) = support::own(|_| ()) {
        body(&gpu);
    }
}

#[test]
fn uploads_behind_long_work_take_bounded_memory() {
    const MIB: usize = 1 << 20;
    alone("uploads_behind_long_work_take_bounded_memory", |gpu| {
        let Some(before) = process::bytes("VmRSS") else { return };
        let (mut values, mut most) = (vec![0.0f32; MIB], before);
        let mut tensor = gpu.zeros::<f32>([MIB]).unwrap();
        for flush in [false, true] {
            let _doing = doing(format!("uploads, flushed: {flush}"));
            long_work(gpu);
            // 512 MiB in all.
            for round in 0..128u8 {
                values[usize::from(round)] = f32::from(round);
                tensor.write(&values).unwrap();
                if flush {
                    gpu.flush().unwrap();
                }
                most = most.max(process::bytes("VmRSS").expect("it was there before"));
            }
            let mib = (most - before) >> 20;
            println!("{mib} MiB more, flushed: {flush}");
            assert!(mib < 400, "uploads of 4 MiB have taken {mib} MiB, flushed: {flush}");
            assert_eq!(tensor.to_vec().unwrap(), values);
        }
    });
}

#[test]
fn uploads_that_are_timed_do_not_pile_up_on_the_host() {
    for gpu in devices() {
        let values = vec![1.0f32; 2 << 20];
        let mut most = 0;
        let timed = gpu.time(|| {
            for _ in 0..20 {
                drop(gpu.tensor(&values, [2 << 20])?);
                most = most.max(gpu.stats().bytes_staged);
            }
            matmul(&tensor(&gpu, 1), &tensor(&gpu, 2))
        });
        assert!(most <= 64 << 20, "{most} bytes waited at one time");
        match timed {
            Ok((c, _)) => assert_eq!(c.to_vec().unwrap(), product(&data(1), &data(2))),
            Err(error) => assert!(gpu.caps().timestamps && matches!(error, Error::Input { .. }), "{error}"),
        }
    }
}

/// Limits this process to so many bytes more than it has. Returns whether the system could.
fn limit_memory(more: u64) -> bool {
    let Some(now) = process::bytes("VmSize") else { return false };
    let (pid, limit) = (std::process::id().to_string(), format!("--as={}", now + more));
    std::process::Command::new("prlimit").args(["--pid", &pid, &limit]).status().is_ok_and(|it| it.success())
}

/// A dropped tensor's buffer is kept by the work that uses it. A device that is short of memory is asked for more when
/// that has ended.
#[test]
fn what_only_work_under_way_holds_does_not_use_up_the_memory() {
    const MIB: usize = 1 << 20;
    alone("what_only_work_under_way_holds_does_not_use_up_the_memory", |gpu| {
        let _doing = doing("allocations behind work");
        // The kernels are compiled, and the threads run, before memory is short.
        long_work(gpu);
        let small = gpu.zeros::<f32>([64]).unwrap();
        assert_eq!(ops::add(&small, &small).unwrap().to_vec().unwrap(), [0.0; 64]);
        let no_room = || gpu.empty::<f32>([128 * MIB]).map(drop).err();
        if !limit_memory(400 << 20) || no_room().is_none() {
            println!("skipped: the system sets no limit, or the driver does not tell of it");
            return;
        }
        long_work(gpu);
        for mib in [112, 128, 160, 192] {
            let large =
                gpu.empty::<f32>([mib * MIB / 4]).unwrap_or_else(|error| panic!("{mib} MiB: {error}"));
            drop(ops::add(&large.slice(0, ..64).unwrap(), &small).unwrap());
        }
        assert!(matches!(no_room(), Some(Error::OutOfMemory { .. })), "512 MiB are more than there is");
        assert_eq!(ops::add(&small, &small).unwrap().to_vec().unwrap(), [0.0; 64]);
    });
}

/// More than a chunk of the host's, and no whole number of them.
#[test]
fn what_the_host_makes_chunk_by_chunk_is_what_it_makes_at_once() {
    let gpu = support::noop();
    let random = gpu.random::<f16>([3, 3_000_001], Fill::Uniform, 7).unwrap();
    assert_eq!(random.to_vec().unwrap(), Fill::Uniform.values::<f16>(9_000_003, 7));
    for shape in [[3, 1_000_003], [2_200_003, 1]] {
        for kind in [SketchKind::Sign, SketchKind::CountSketch] {
            let sketch = Sketch::new(kind, shape, 7).unwrap();
            assert_eq!(sketch.to_tensor(&gpu).unwrap().to_vec().unwrap(), sketch.to_vec(), "{sketch:?}");
        }
    }
}
