//! Memory: uploads without end, buffers that come out of the pool, budgets, and what is given back.

use super::{SIZE, data, devices, product, support, tensor};
use tilewise::gpu::Stats;
use tilewise::sketch::{Sketch, SketchKind};
use tilewise::{Fill, Gpu, GpuOptions, f16, matmul, wgpu};

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
    let gpu = super::support::noop_with(options, |_| ());
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
    let Some(gpu) = super::support::adopted(|_| ()) else { return };
    let memory = gpu.caps().memory.expect("both software drivers tell");
    assert_eq!(gpu.stats().bytes_free, Some(memory / 2));
    let Some(own) = super::support::own(|_| ()) else { return };
    assert_eq!(own.stats().bytes_free, Some(memory));
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
