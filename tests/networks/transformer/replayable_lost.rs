//! What frames that never ran, and calls that failed, leave of a cache whose position is in a tensor: `truncate` and `clear`
//! bring it back, and what it held before stays.

use super::ODD;
use super::replayable::{BLOCK, bits, causal_options};
use super::replayable_decode::Decode;
use support::failure::says;
use tilewise::attention::{AttentionOptions, KeyValueCache};
use tilewise::{Error, Fill, Replay, Result, Tensor};

/// How a frame decodes a token.
type Step = fn(&mut Decode, usize) -> Result<Tensor<f32>>;

const STEPS: [(&str, Step); 2] = [("run", Decode::run), ("call", Decode::call)];

/// Of a frame that is dropped, only its positions are missing. Each way of decoding goes on behind the others.
#[test]
fn a_dropped_frame_leaves_what_the_cache_held_before() {
    let Some(gpu) = support::gpu() else { return };
    let mut it = Decode::new(&gpu);
    let want = it.want(&[0, 1, 2, 3, 4, 5]);
    for (name, step) in STEPS {
        for (other, next) in STEPS {
            let what = format!("a dropped {name}, then a {other}");
            it.cache.clear();
            (0..3).for_each(|at| it.assert_run(at, &want[at]));
            let before = it.held(3);
            let (lost, encoder) = it.frame(|it| {
                step(it, 3)?;
                step(it, 4)
            });
            drop(encoder);
            assert!(lost.unwrap().to_vec().is_err(), "{what}");
            assert_eq!(it.cache.len(), 5, "{what}");
            assert_eq!(it.held(3), before, "{what}");
            for of in [it.cache.keys().unwrap(), it.cache.values().unwrap()] {
                assert!(matches!(of.slice(2, 3..4).unwrap().to_vec(), Err(Error::Device(_))), "{what}");
            }
            assert!(
                next(&mut it, 5).is_err() && next(&mut it, 5).is_err(),
                "{what}: it attends what is missing"
            );
            it.cache.truncate(3);
            for (at, want) in want.iter().enumerate().skip(3) {
                assert_eq!(bits(&next(&mut it, at).unwrap()), *want, "{what}, row {at}");
            }
            assert_eq!(it.held(3), before, "{what}");
            assert_eq!(it.cache.position().unwrap().to_vec().unwrap(), [6]);
        }
    }
}

/// The closure fails behind several appends.
#[test]
fn a_closure_that_fails_leaves_what_the_cache_held_before() {
    let Some(gpu) = support::gpu() else { return };
    for (name, step) in STEPS {
        let mut it = Decode::new(&gpu);
        let want = it.want(&[0, 1, 2]);
        it.assert_run(0, &want[0]);
        let (failed, encoder) = it.frame(|it| {
            step(it, 1)?;
            step(it, 2)?;
            it.x.to_vec() // no read is possible here
        });
        assert!(failed.is_err(), "{name}");
        gpu.queue().submit([encoder.finish()]);
        it.cache.truncate(1);
        it.assert_run(1, &want[1]);
        assert_eq!(bits(&it.call(2).unwrap()), want[2], "{name}");
        // And all of it.
        let (failed, _encoder) = it.frame(|it| {
            step(it, 3)?;
            it.x.to_vec() // no read is possible here
        });
        assert!(failed.is_err(), "{name}");
        it.cache.clear();
        (0..3).for_each(|at| it.assert_run(at, &want[at]));
    }
}

/// The host sets the position while a frame is open, and the frame is dropped only then, or is submitted.
#[test]
fn truncate_between_recording_and_submitting() {
    let Some(gpu) = support::gpu() else { return };
    let mut it = Decode::new(&gpu);
    let want = it.want(&[0, 1, 2, 3, 4]);
    for is_submitted in [false, true] {
        for (name, step) in STEPS {
            it.cache.clear();
            (0..2).for_each(|at| it.assert_run(at, &want[at]));
            let (rows, encoder) = it.frame(|it| {
                step(it, 2)?;
                step(it, 3)
            });
            it.cache.truncate(1);
            assert!(it.run(1).unwrap_err().to_string().contains("have not been submitted"), "{name}");
            assert_eq!(it.cache.len(), 1);
            if is_submitted {
                gpu.queue().submit([encoder.finish()]);
                assert_eq!(bits(&rows.unwrap()), want[3], "{name}");
            } else {
                drop(encoder);
            }
            (1..5).for_each(|at| it.assert_run(at, &want[at]));
        }
    }
}

/// The host sets the position in the closure itself, between two appends; the frame is dropped, or not.
#[test]
fn truncate_in_a_frame() {
    let Some(gpu) = support::gpu() else { return };
    let mut it = Decode::new(&gpu);
    let want = it.want(&[0, 1, 2, 3]);
    for is_submitted in [true, false] {
        for (name, step) in STEPS {
            it.cache.clear();
            (0..2).for_each(|at| it.assert_run(at, &want[at]));
            let (row, encoder) = it.frame(|it| {
                step(it, 3)?;
                it.cache.truncate(1);
                step(it, 1)?;
                step(it, 2)
            });
            assert_eq!(it.cache.len(), 3);
            if is_submitted {
                gpu.queue().submit([encoder.finish()]);
                assert_eq!(bits(&row.unwrap()), want[2], "{name}");
                it.assert_run(3, &want[3]);
            } else {
                drop(encoder);
                it.cache.truncate(1);
                (1..4).for_each(|at| it.assert_run(at, &want[at]));
            }
        }
    }
}

/// A capture after a frame was dropped: of its own runs too.
#[test]
fn a_capture_follows_a_dropped_frame() {
    let Some(gpu) = support::gpu() else { return };
    let mut it = Decode::new(&gpu);
    let want = it.want(&[0, 1, 2]);
    it.assert_run(0, &want[0]);
    let (_, encoder) = it.frame(|it| it.run(1));
    drop(encoder);
    it.cache.truncate(1);
    let (token, layer) = (it.token(1), it.layer.clone());
    let mut again = gpu
        .capture(&[token.view()], || layer.forward_cached(&token, &mut it.cache, &causal_options()))
        .unwrap();
    assert_eq!(bits(again.run(&[token.view()]).unwrap()), want[1]);
    it.assert_run(2, &want[2]);
}

/// A replay that is dropped with its frame open.
#[test]
fn a_replay_that_is_dropped_with_its_frame_leaves_the_cache() {
    let Some(gpu) = support::gpu() else { return };
    let mut it = Decode::new(&gpu);
    let want = it.want(&[0, 1, 2]);
    it.assert_run(0, &want[0]);
    let (_, encoder) = it.frame(|it| it.run(1));
    let Decode { layer, x, mut cache, step, .. } = it;
    drop(step);
    drop(encoder);
    cache.truncate(1);
    for (at, want) in want.iter().enumerate().skip(1) {
        let token = super::replayable::copied(&x, at..at + 1);
        let row = layer.forward_cached(&token, &mut cache, &causal_options()).unwrap();
        assert_eq!(bits(&row), *want, "row {at}");
    }
}

/// A call fails behind its append and the closure goes on: no run may append what nobody has asked for.
#[test]
fn a_capture_with_half_a_step_is_refused() {
    let Some(gpu) = support::gpu() else { return };
    let mut it = Decode::new(&gpu);
    let want = it.want(&[0, 1]);
    let wrong = gpu.zeros::<i8>([1, 3]).unwrap();
    let (layer, token, causal) = (it.layer.clone(), it.token(0), causal_options());
    let cache = &mut it.cache;
    let captured = gpu.capture(&[token.view()], || {
        layer.forward_cached(&token, cache, &causal.keep(&wrong)).unwrap_err();
        layer.forward_cached(&token, cache, &causal)
    });
    says(captured, &["capture: the closure", "went on"]);
    // What fails before it has launched anything does no harm.
    let long = gpu.zeros::<f32>([1, 9, ODD.embed]).unwrap();
    let mut captured = gpu
        .capture(&[token.view()], || {
            layer.forward_cached(&long, cache, &causal).unwrap_err();
            layer.forward_cached(&token, cache, &causal)
        })
        .unwrap();
    assert_eq!(bits(captured.run(&[token.view()]).unwrap()), want[0]);
    assert_eq!(it.cache.len(), 1);
    it.assert_run(1, &want[1]);
}

/// A capture that sets the position fails, and has not set it.
#[test]
fn a_capture_that_clears_the_cache_leaves_it() {
    let Some(gpu) = support::gpu() else { return };
    let mut it = Decode::new(&gpu);
    let want = it.want(&[0, 1]);
    it.assert_run(0, &want[0]);
    for set in [KeyValueCache::clear, |cache: &mut KeyValueCache<f32>| cache.truncate(0)] {
        let cache = &mut it.cache;
        let captured = gpu.capture(&[], || {
            set(cache);
            Ok(())
        });
        assert!(captured.is_err());
        assert_eq!(it.cache.len(), 1);
    }
    it.assert_run(1, &want[1]);
}

/// The same of a block.
#[test]
fn a_capture_with_half_a_block_is_refused() {
    let Some(gpu) = support::gpu() else { return };
    let block = BLOCK.block::<f32>(&gpu, 8);
    let x = gpu.random::<f32>([1, 1, ODD.embed], Fill::Uniform, 5).unwrap();
    let mut cache = block.attention().replayable_cache(1, 8).unwrap();
    let wrong = gpu.zeros::<i8>([1, 3]).unwrap();
    let causal = causal_options();
    let capture = |cache: &mut KeyValueCache<f32>, first: &AttentionOptions<'_, f32>| -> Result<Replay<_>> {
        gpu.capture(&[x.view()], || {
            let _ = block.forward_cached(&x, cache, first);
            block.forward_cached(&x, cache, &causal)
        })
    };
    assert!(capture(&mut cache, &causal.keep(&wrong)).is_err());
    let mut two = capture(&mut cache, &causal).unwrap();
    two.run(&[x.view()]).unwrap();
    assert_eq!(cache.len(), 2);
}
