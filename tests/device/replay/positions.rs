//! Positions that are read from tensors: each run copies to and from another one.

use super::{bits, on_every_device, random};
use tilewise::gpu::Stats;
use tilewise::{Element, Gpu, Result, Tensor, f16, matmul, ops};

/// A key-value cache (batch, heads, length, dim), and a step that writes one position of it.
const CACHE: [usize; 4] = [2, 3, 11, 6];
const STEP: [usize; 4] = [2, 3, 1, 6];

/// Asserts that a run has launched so many kernels, and allocated, planned and uploaded nothing.
fn assert_launches_only(before: &Stats, after: &Stats, launches: usize) {
    assert_eq!(after.launches - before.launches, launches as u64);
    assert_eq!(
        (after.buffers_created, after.bytes_in_use, after.plans),
        (before.buffers_created, before.bytes_in_use, before.plans)
    );
}

/// Copies to a position that the host knows.
fn write_eager<T: Element>(x: &Tensor<T>, cache: &Tensor<T>, step: usize) {
    let place = cache.slice(2, step..=step).unwrap();
    ops::copy_into(x, &mut place.writable_view()).unwrap();
}

/// The host writes the position before each run.
#[test]
fn a_cache_is_filled_by_runs_whose_position_is_written() {
    fn check<T: Element>(gpu: &Gpu) {
        let (cache, eager) = (gpu.zeros::<T>(CACHE).unwrap(), gpu.zeros::<T>(CACHE).unwrap());
        let (x, at) = (gpu.zeros::<T>(STEP).unwrap(), gpu.zeros::<i32>([1]).unwrap());
        let mut replay = gpu
            .capture(&[x.view(), at.view()], || {
                ops::copy_into_at(&x, &mut cache.writable_view(), 2, &at)?;
                ops::slice_at(&cache, 2, &at, 2)
            })
            .unwrap();
        assert_eq!(replay.launches(), 2);
        for step in 0..CACHE[2] {
            let new = random::<T>(gpu, &STEP, step as u64 + 1);
            replay.write(1, &[i32::try_from(step).unwrap()]).unwrap();
            let before = gpu.stats();
            let slice = replay.run(&[new.view(), at.view()]).unwrap().clone();
            assert_launches_only(&before, &gpu.stats(), 2);
            write_eager(&new, &eager, step);
            assert_eq!(bits(&cache), bits(&eager), "{} {gpu:?}, step {step}", T::DTYPE);
            let start = step.min(CACHE[2] - 2);
            assert_eq!(bits(&slice), bits(&eager.slice(2, start..start + 2).unwrap()), "{step}");
        }
    }
    on_every_device("a cache", |gpu| {
        support::of_reals!(check, gpu);
        check::<i8>(gpu);
    });
}

/// A step of decoding: a key, which goes to the cache, and its products with all keys so far.
fn decode(
    x: &Tensor<f32>,
    weight: &Tensor<f32>,
    write: impl FnOnce(&Tensor<f32>) -> Result<Tensor<f32>>,
) -> Result<Tensor<f32>> {
    let key = matmul(&x.reshape([6, 6])?, weight)?.reshape(STEP)?;
    let cache = write(&key)?;
    ops::softmax(&matmul(&key, &cache.t())?, 3)
}

/// The host writes nothing: a table of positions has the next one. It goes on when the cache is full, and overwrites the
/// last key.
#[test]
fn a_cache_is_filled_by_runs_that_advance_the_position_themselves() {
    on_every_device("a position on the device", |gpu| {
        let [cache, eager] = [(); 2].map(|()| gpu.zeros::<f32>(CACHE).unwrap());
        let (x, weight) = (random::<f32>(gpu, &STEP, 1), random::<f32>(gpu, &[6, 6], 2));
        let next: Vec<i32> = (1..).take(CACHE[2]).collect();
        let (next, at) = (gpu.tensor(&next, [next.len()]).unwrap(), gpu.zeros::<i32>([1]).unwrap());
        let mut replay = gpu
            .capture(&[x.view()], || {
                let scores = decode(&x, &weight, |key| {
                    ops::copy_into_at(key, &mut cache.writable_view(), 2, &at)?;
                    Ok(cache.clone())
                })?;
                let after = ops::slice_at(&next, 0, &at, 1)?;
                ops::copy_into(&after, &mut at.writable_view())?;
                Ok(scores)
            })
            .unwrap();
        assert_eq!(at.to_vec().unwrap(), [0], "nothing has run");
        for step in 0..CACHE[2] + 3 {
            let new = random::<f32>(gpu, &STEP, step as u64 + 10);
            let want = decode(&new, &weight, |key| {
                write_eager(key, &eager, step.min(CACHE[2] - 1));
                Ok(eager.clone())
            });
            let want = bits(&want.unwrap());
            let before = gpu.stats();
            let scores = replay.run(&[new.view()]).unwrap().clone();
            assert_launches_only(&before, &gpu.stats(), replay.launches());
            assert_eq!(bits(&scores), want, "{gpu:?}, step {step}");
            assert_eq!(bits(&cache), bits(&eager), "{gpu:?}, step {step}");
            assert_eq!(at.to_vec().unwrap(), [i32::try_from(step + 1).unwrap().min(11)]);
        }
    });
}

/// In an application's encoder, eager and replayed.
#[test]
fn positions_are_read_when_the_application_submits() {
    on_every_device("an application's encoder", |gpu| {
        let cache = gpu.zeros::<f16>([5, 3]).unwrap();
        let (rows, at) = (random::<f16>(gpu, &[2, 3], 1), gpu.tensor(&[0], [1]).unwrap());
        let later = gpu.tensor(&[3], [1]).unwrap();
        let mut replay = gpu
            .capture(&[at.view()], || {
                ops::copy_into_at(&rows.slice(0, 1..)?, &mut cache.writable_view(), 0, &at)
            })
            .unwrap();
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        gpu.record_into(&mut encoder, || {
            ops::copy_into_at(&rows.slice(0, ..1)?, &mut cache.writable_view(), 0, &at)?;
            ops::copy_into(&later, &mut at.writable_view())?;
            replay.run(&[at.view()]).map(drop)
        })
        .unwrap();
        gpu.queue().submit([encoder.finish()]);
        let [first, second] = [0, 1].map(|row| rows.slice(0, row..=row).unwrap().to_vec().unwrap());
        let zeros = vec![f16::ZERO; 3];
        let want = [&first[..], &zeros, &zeros, &second, &zeros].concat();
        assert_eq!(cache.to_vec().unwrap(), want, "{gpu:?}");
    });
}
