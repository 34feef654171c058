//! Work that never runs leaves only what it should have written without contents: the rest of a tensor is as it was, and what is
//! written again is there again.

use super::{encoder, on_every_device};
use support::failure::says;
use tilewise::attention::{AttentionOptions, CausalFrom, KeyValueCache, MultiHeadAttention};
use tilewise::{Element, Fill, Gpu, Result, Tensor, matmul, ops};

const DROPPED: &str = "were dropped without being submitted";

fn random<T: Element>(gpu: &Gpu, shape: &[usize], seed: u64) -> Tensor<T> {
    gpu.random(shape, Fill::Uniform, seed).unwrap()
}

/// Records this into an encoder that is dropped.
fn dropped<R>(gpu: &Gpu, work: impl FnOnce() -> Result<R>) -> R {
    let mut encoder = encoder(gpu);
    let done = gpu.record_into(&mut encoder, work).unwrap();
    drop(encoder);
    done
}

/// Records this in a closure that then fails.
fn failed(gpu: &Gpu, work: impl FnOnce() -> Result<()>) {
    let [a, b] = [2, 3].map(|n| random::<f32>(gpu, &[n], 1));
    let mut encoder = encoder(gpu);
    let result = gpu.record_into(&mut encoder, || {
        work()?;
        ops::add(&a, &b)
    });
    assert!(result.is_err());
    gpu.queue().submit([encoder.finish()]);
}

/// A cache of two sequences and three heads with two rows, and the rows.
fn filled<T: Element + tilewise::Real>(gpu: &Gpu) -> (KeyValueCache<T>, [Vec<T>; 2]) {
    let mut cache = KeyValueCache::<T>::new(gpu, [2, 3, 8, 4]).unwrap();
    let [keys, values] = [1, 2].map(|seed| random::<T>(gpu, &[2, 3, 2, 4], seed));
    cache.append(&keys, &values).unwrap();
    (cache, [keys, values].map(|rows| rows.to_vec().unwrap()))
}

fn rows<T: Element + tilewise::Real>(cache: &KeyValueCache<T>) -> [Vec<T>; 2] {
    [cache.keys(), cache.values()].map(|rows| rows.unwrap().to_vec().unwrap())
}

fn a_cache_after_a_dropped_frame<T: Element + tilewise::Real>(gpu: &Gpu) {
    let one = random::<T>(gpu, &[2, 3, 1, 4], 3);
    for frame in 0..3 {
        let (mut cache, before) = filled::<T>(gpu);
        match frame {
            0 => dropped(gpu, || cache.append(&one, &one)),
            1 => failed(gpu, || cache.append(&one, &one)),
            _ => {
                cache.append(&one, &one).unwrap();
                drop(gpu.take_commands().unwrap());
            }
        }
        assert_eq!(cache.len(), 3);
        assert!(cache.keys().unwrap().to_vec().is_err(), "the third row was never written");
        cache.truncate(2);
        assert_eq!(rows(&cache), before, "frame {frame}");
        let negative = ops::neg(&cache.keys().unwrap()).unwrap().to_vec().unwrap();
        assert!(negative.iter().zip(&before[0]).all(|(a, b)| a.to_f64() == -b.to_f64()));
        let _ = cache.keys().unwrap().buffer().unwrap();
        // The row is written again, and all three are there.
        cache.append(&one, &one).unwrap();
        let keys = cache.keys().unwrap();
        assert_eq!(keys.slice(2, 2..).unwrap().to_vec().unwrap(), one.to_vec().unwrap());
        assert_eq!(keys.slice(2, ..2).unwrap().to_vec().unwrap(), before[0]);
        assert_eq!(keys.to_vec().unwrap().len(), 2 * 3 * 3 * 4);
        cache.clear();
        assert!(cache.is_empty());
        cache.append(&one, &one).unwrap();
        assert_eq!(rows(&cache), [one.to_vec().unwrap(), one.to_vec().unwrap()]);
    }
}

#[test]
fn a_cache_keeps_its_rows_after_a_frame_that_never_ran() {
    on_every_device("a cache", |gpu| {
        support::of_reals!(a_cache_after_a_dropped_frame, gpu);
    });
}

#[test]
fn a_cleared_cache_is_as_a_new_one_however_many_frames_are_dropped() {
    on_every_device("frames", |gpu| {
        let (mut cache, before) = filled::<f32>(gpu);
        let one = random::<f32>(gpu, &[2, 3, 1, 4], 3);
        for frame in 0..100 {
            dropped(gpu, || (0..1 + frame % 5).try_for_each(|_| cache.append(&one, &one)));
            cache.truncate(2);
            assert_eq!(rows(&cache), before, "frame {frame}");
        }
        dropped(gpu, || (2..8).try_for_each(|_| cache.append(&one, &one)));
        cache.clear();
        for len in 1..=8 {
            cache.append(&one, &one).unwrap();
            assert_eq!(cache.keys().unwrap().to_vec().unwrap().len(), 24 * len);
        }
    });
}

#[test]
fn decoding_goes_on_where_a_dropped_token_was() {
    on_every_device("decoding", |gpu| {
        let layer = MultiHeadAttention::<f32>::builder(16, 2).random(gpu).unwrap();
        let causal = AttentionOptions::new().causal(CausalFrom::BottomRight);
        let x = random::<f32>(gpu, &[1, 5, 16], 1);
        let token = |at: usize| x.slice(1, at..=at).unwrap();
        let decode = |spoilt: bool| {
            let mut cache = layer.cache(1, 8).unwrap();
            let mut found = Vec::new();
            for at in 0..5 {
                if spoilt {
                    let y = dropped(gpu, || layer.forward_cached(&token(at), &mut cache, &causal));
                    says(y.to_vec(), &[DROPPED]);
                    cache.truncate(at);
                }
                let y = layer.forward_cached(&token(at), &mut cache, &causal).unwrap();
                found.extend(y.to_vec().unwrap());
            }
            found
        };
        assert_eq!(decode(true), decode(false));
    });
}

#[test]
fn the_rest_of_a_tensor_is_as_it_was() {
    on_every_device("slices", |gpu| {
        let x = random::<f32>(gpu, &[6, 10], 1);
        let before = x.to_vec().unwrap();
        let part = |rows: std::ops::Range<usize>, columns: std::ops::Range<usize>| {
            x.slice(0, rows).unwrap().slice(1, columns).unwrap()
        };
        let new = random::<f32>(gpu, &[2, 3], 2);
        dropped(gpu, || ops::copy_into(&new, &mut part(2..4, 5..8).writable_view()));
        says(x.to_vec(), &[DROPPED]);
        says(part(3..4, 7..9).to_vec(), &[DROPPED]);
        says(matmul(&part(1..3, 0..6), &part(0..6, 0..1)), &[DROPPED]);
        for (rows, columns) in [(0..2, 0..10), (4..6, 0..10), (0..6, 0..5), (0..6, 8..10), (2..4, 8..10)] {
            let there = part(rows.clone(), columns.clone());
            let want: Vec<f32> = rows.flat_map(|row| before[row * 10..][columns.clone()].to_vec()).collect();
            assert_eq!(there.to_vec().unwrap(), want);
            assert_eq!(ops::neg(&ops::neg(&there).unwrap()).unwrap().to_vec().unwrap(), want);
        }
        // Written again piece by piece: by a launch, by the host, and from staging memory.
        ops::copy_into(&new.slice(0, ..1).unwrap(), &mut part(2..3, 5..8).writable_view()).unwrap();
        assert_eq!(part(2..3, 0..10).to_vec().unwrap()[5..8], new.to_vec().unwrap()[..3]);
        says(part(3..4, 5..6).to_vec(), &[DROPPED]);
        part(3..4, 5..7).writable_view().write(&[7.0, 8.0]).unwrap();
        assert_eq!(part(3..4, 5..7).to_vec().unwrap(), [7.0, 8.0]);
        says(x.to_vec(), &[DROPPED]);
        part(3..4, 7..8).writable_view().write_from(|to| to.fill(9.0)).unwrap();
        let after = x.to_vec().unwrap();
        assert_eq!(after[35..38], [7.0, 8.0, 9.0]);
        assert_eq!((&after[..25], &after[38..]), (&before[..25], &before[38..]));
        // A staged write that is dropped, too, and the same write once more.
        let mut staged = part(0..1, 0..4).writable_view();
        dropped(gpu, || staged.write_from(|to| to.fill(1.0)));
        says(staged.to_vec(), &[DROPPED]);
        assert_eq!(part(0..1, 4..10).to_vec().unwrap(), before[4..10]);
        staged.write_from(|to| to.fill(2.0)).unwrap();
        assert_eq!(x.to_vec().unwrap()[..5], [2.0, 2.0, 2.0, 2.0, before[4]]);
    });
}

#[test]
fn parts_that_fail_in_one_encoder_are_missing_together() {
    on_every_device("one encoder", |gpu| {
        let x = random::<f32>(gpu, &[8, 4], 1);
        let before = x.to_vec().unwrap();
        let row = |at: usize| x.slice(0, at..=at).unwrap();
        let new = random::<f32>(gpu, &[1, 4], 2);
        let mut encoder = encoder(gpu);
        for at in [1, 3, 5] {
            gpu.record_into(&mut encoder, || ops::copy_into(&new, &mut row(at).writable_view())).unwrap();
        }
        // A later call of the same encoder reads what an earlier one writes.
        let sum = gpu.record_into(&mut encoder, || ops::add(&row(3), &row(2))).unwrap();
        drop(encoder);
        says(sum.to_vec(), &[DROPPED]);
        for at in 0..8 {
            match [1, 3, 5].contains(&at) {
                true => _ = says(row(at).to_vec(), &[DROPPED]),
                false => assert_eq!(row(at).to_vec().unwrap(), before[4 * at..4 * at + 4]),
            }
        }
        let all = random::<f32>(gpu, &[8, 4], 3);
        ops::copy_into(&all, &mut x.slice(0, ..).unwrap().writable_view()).unwrap();
        assert_eq!(x.to_vec().unwrap(), all.to_vec().unwrap());
    });
}

#[test]
fn a_replay_in_a_dropped_frame_leaves_out_only_what_it_writes() {
    on_every_device("a replay", |gpu| {
        let x = random::<f32>(gpu, &[2, 4], 1);
        let state = random::<f32>(gpu, &[6, 4], 2);
        let before = state.to_vec().unwrap();
        let mut middle = state.slice(0, 2..4).unwrap().writable_view();
        let mut replay = gpu
            .capture(&[x.view()], || {
                ops::copy_into(&x, &mut middle)?;
                ops::neg(&middle)
            })
            .unwrap();
        assert_eq!(state.to_vec().unwrap(), before, "a capture writes nothing");
        dropped(gpu, || replay.run(&[x.view()]).map(drop));
        says(replay.outputs().to_vec(), &[DROPPED]);
        says(state.to_vec(), &[DROPPED]);
        for (rows, want) in [(0..2, &before[..8]), (4..6, &before[16..])] {
            assert_eq!(state.slice(0, rows).unwrap().to_vec().unwrap(), want);
        }
        // It writes all that is missing.
        let y = replay.run(&[x.view()]).unwrap().to_vec().unwrap();
        assert!(y.iter().zip(x.to_vec().unwrap()).all(|(y, x)| *y == -x));
        assert_eq!(state.to_vec().unwrap()[8..16], x.to_vec().unwrap());
    });
}

#[test]
fn weights_go_back_to_what_they_were_before_a_lost_frame() {
    on_every_device("weights", |gpu| {
        let mut weights = random::<f32>(gpu, &[6, 4], 1);
        let before = weights.to_vec().unwrap();
        let step = random::<f32>(gpu, &[6, 4], 2);
        dropped(gpu, || {
            ops::sub_assign(&mut weights, &step)?;
            ops::sub_assign(&mut weights, &step)
        });
        says(weights.to_vec(), &[DROPPED]);
        says(ops::sub_assign(&mut weights, &step), &[DROPPED]);
        // A view takes back its own elements.
        weights.slice(0, 1..3).unwrap().revert().unwrap();
        assert_eq!(weights.slice(0, 1..3).unwrap().to_vec().unwrap(), before[4..12]);
        says(weights.to_vec(), &[DROPPED]);
        weights.revert().unwrap();
        assert_eq!(weights.to_vec().unwrap(), before);
        weights.revert().unwrap();
        ops::sub_assign(&mut weights, &step).unwrap();
        let after = weights.to_vec().unwrap();
        assert!(after.iter().zip(&before).zip(step.to_vec().unwrap()).all(|((a, b), s)| *a == b - s));
        // While commands are not submitted, nothing is taken back, and a closure cannot.
        let mut encoder = encoder(gpu);
        gpu.record_into(&mut encoder, || ops::sub_assign(&mut weights, &step)).unwrap();
        says(weights.revert(), &["have not been submitted"]);
        drop(encoder);
        says(dropped(gpu, || Ok(weights.revert())), &["record_into"]);
        weights.revert().unwrap();
        assert_eq!(weights.to_vec().unwrap(), after);
        // The end of an operation may have been taken without its beginning.
        ops::sub_assign(&mut weights, &step).unwrap();
        drop(gpu.take_commands().unwrap());
        says(weights.revert(), &[DROPPED]);
        weights.write(&before).unwrap();
        dropped(gpu, || ops::sub_assign(&mut weights, &step));
        says(weights.revert(), &[DROPPED]);
        weights.write(&before).unwrap();
        assert_eq!(weights.to_vec().unwrap(), before);
    });
}
