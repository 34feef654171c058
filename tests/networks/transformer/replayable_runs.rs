//! What comes between the runs of a captured step with a cache: calls, frames, other replays and threads, and mistakes.

use super::ODD;
use super::replayable::{BLOCK, bits, causal_options, copied};
use super::replayable_decode::Decode;
use support::failure::{Kind, fails, says};
use tilewise::attention::{KeyValueCache, TransformerBlock};
use tilewise::{Error, Fill, Replay, Result, Tensor, ops};

#[test]
fn a_run_for_which_there_is_no_room_is_an_error() {
    let Some(gpu) = support::gpu() else { return };
    let mut it = Decode::new(&gpu);
    let all: Vec<usize> = (0..8).collect();
    let want = it.want(&all);
    for (at, want) in want.iter().enumerate() {
        it.assert_run(at, want);
    }
    let held = [it.cache.keys().unwrap(), it.cache.values().unwrap()].map(|of| bits(&of));
    for _ in 0..2 {
        fails(it.run(0), Kind::Input, &["Replay::run: the cache", "8 of 8 positions"]);
    }
    assert_eq!(it.cache.len(), 8);
    assert_eq!([it.cache.keys().unwrap(), it.cache.values().unwrap()].map(|of| bits(&of)), held);
    it.cache.truncate(7);
    it.assert_run(7, &want[7]);
    // Nor can a capture have more steps than the cache has positions.
    let (x, layer) = (it.x.clone(), it.layer.clone());
    it.cache.clear();
    let captured = gpu.capture(&[x.view()], || {
        layer.forward_cached(&x, &mut it.cache, &causal_options())?;
        layer.forward_cached(&x.slice(1, ..1)?, &mut it.cache, &causal_options())
    });
    assert!(matches!(captured, Err(Error::Shape { .. })), "{captured:?}");
    it.assert_run(0, &want[0]);
}

/// Whatever comes between the runs, each continues where the cache is.
#[test]
fn calls_between_the_runs_move_the_position() {
    let Some(gpu) = support::gpu() else { return };
    let mut it = Decode::new(&gpu);
    let want = it.want(&[0, 1, 2, 3, 4, 5]);
    it.assert_run(0, &want[0]);
    let second = it.token(1);
    let eager = it.layer.forward_cached(&second, &mut it.cache, &causal_options()).unwrap();
    assert_eq!(bits(&eager), want[1]);
    it.assert_run(2, &want[2]);
    it.cache.truncate(1);
    assert_eq!(it.cache.len(), 1);
    it.assert_run(1, &want[1]);
    it.assert_run(2, &want[2]);
    it.cache.clear();
    it.cache.truncate(5);
    assert!(it.cache.is_empty());
    it.assert_run(0, &want[0]);
    // A prompt of several, and the tensor of the position as others see it.
    let prompt = it.x.slice(1, 1..4).unwrap();
    it.layer.forward_cached(&prompt, &mut it.cache, &causal_options()).unwrap();
    assert_eq!(it.cache.position().unwrap().to_vec().unwrap(), [4]);
    let table = gpu.tensor(&[10, 11, 12, 13, 14, 15, 16, 17], [8]).unwrap();
    let at = ops::slice_at(&table, 0, it.cache.position().unwrap(), 1).unwrap();
    assert_eq!(at.to_vec().unwrap(), [14]);
    let compared = it.run(4).unwrap().to_vec().unwrap();
    let alone: &[f32] = bytemuck::cast_slice(&want[4]);
    assert!(
        compared.iter().zip(alone).all(|(a, b)| (a - b).abs() < 1e-5),
        "a prompt may be summed otherwise"
    );
    it.cache.truncate(2);
    assert_eq!(it.cache.position().unwrap().to_vec().unwrap(), [2], "the host has set it");
    // A call that fails moves nothing.
    let wrong = gpu.zeros::<i8>([1, 3]).unwrap();
    it.layer.forward_cached(&second, &mut it.cache, &causal_options().keep(&wrong)).unwrap_err();
    assert_eq!((it.cache.len(), it.cache.position().unwrap().to_vec().unwrap()), (2, vec![2]));
}

/// Several steps in one capture, two captures of one cache, and a replay that outlives its cache.
#[test]
fn captures_share_a_cache() {
    let Some(gpu) = support::gpu() else { return };
    let mut it = Decode::new(&gpu);
    let want = it.want(&[0, 1, 2, 3, 4, 5, 6]);
    let pair = gpu.zeros::<f32>([1, 2, ODD.embed]).unwrap();
    let (layer, gpu) = (it.layer.clone(), it.gpu.clone());
    let mut two = gpu
        .capture(&[pair.view()], || {
            let options = causal_options();
            let first = layer.forward_cached(&pair.slice(1, ..1)?, &mut it.cache, &options)?;
            Ok([first, layer.forward_cached(&pair.slice(1, 1..)?, &mut it.cache, &options)?])
        })
        .unwrap();
    it.assert_run(0, &want[0]);
    let rows = copied(&it.x, 1..3);
    let found = two.run(&[rows.view()]).unwrap().each_ref().map(bits);
    assert_eq!(found.as_slice(), &want[1..3]);
    it.assert_run(3, &want[3]);
    it.cache.truncate(2);
    let rows = copied(&it.x, 2..4);
    assert_eq!(two.run(&[rows.view()]).unwrap().each_ref().map(bits).as_slice(), &want[2..4]);
    drop(it.cache);
    let token = copied(&it.x, 4..5);
    assert_eq!(bits(it.step.run(&[token.view()]).unwrap()), want[4], "the replay keeps the cache");
    drop(it.step);
    let rows = copied(&it.x, 5..7);
    assert_eq!(two.run(&[rows.view()]).unwrap().each_ref().map(bits).as_slice(), &want[5..7]);
    assert!(two.run(&[rows.view()]).is_err(), "there is room for one more");
}

/// Runs in an application's encoder, and one that is dropped.
#[test]
fn a_frame_that_is_dropped_is_undone_by_truncate() {
    let Some(gpu) = support::gpu() else { return };
    let mut it = Decode::new(&gpu);
    let want = it.want(&[0, 1, 2, 3]);
    let frame = |it: &mut Decode, tokens: std::ops::Range<usize>, is_submitted: bool| {
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        let rows = gpu.record_into(&mut encoder, || {
            let row = |at: usize| {
                let mut row = gpu.empty([1, 1, ODD.embed])?;
                ops::copy_into(&it.run(at)?, &mut row)?;
                Ok(row)
            };
            tokens.map(row).collect::<Result<Vec<_>>>()
        });
        let rows = rows.unwrap();
        if is_submitted {
            gpu.queue().submit([encoder.finish()]);
        }
        rows
    };
    let rows = frame(&mut it, 0..2, true);
    assert_eq!(rows.iter().map(bits).collect::<Vec<_>>(), want[..2]);
    // The host sets the position in the frame itself.
    it.cache.truncate(1);
    let rows = frame(&mut it, 1..3, true);
    assert_eq!(rows.iter().map(bits).collect::<Vec<_>>(), want[1..3]);
    frame(&mut it, 3..4, false);
    assert!(it.cache.position().unwrap().to_vec().is_err(), "the dropped frame should have written it");
    assert!(it.run(3).is_err(), "nor are the keys there");
    assert_eq!(it.cache.len(), 4);
    it.cache.truncate(3);
    assert_eq!(it.cache.position().unwrap().to_vec().unwrap(), [3]);
    it.assert_run(3, &want[3]);
}

/// A run whose commands are not submitted: neither a run nor a call may come between, and nothing is counted twice.
#[test]
fn an_open_frame_keeps_the_cache() {
    let Some(gpu) = support::gpu() else { return };
    let mut it = Decode::new(&gpu);
    let want = it.want(&[0, 1]);
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    let first = gpu.record_into(&mut encoder, || it.run(0)).unwrap();
    assert!(it.run(1).unwrap_err().to_string().contains("have not been submitted"));
    let token = it.token(1);
    says(it.layer.forward_cached(&token, &mut it.cache, &causal_options()), &["have not been submitted"]);
    assert_eq!(it.cache.len(), 1);
    gpu.queue().submit([encoder.finish()]);
    assert_eq!(bits(&first), want[0]);
    it.assert_run(1, &want[1]);
    // The replay is dropped while a frame is open.
    it.cache.clear();
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    let first = gpu.record_into(&mut encoder, || it.run(0)).unwrap();
    let Decode { layer, x, mut cache, step, .. } = it;
    drop(step);
    gpu.queue().submit([encoder.finish()]);
    assert_eq!(bits(&first), want[0]);
    let token = copied(&x, 1..2);
    let second = layer.forward_cached(&token, &mut cache, &causal_options()).unwrap();
    assert_eq!(bits(&second), want[1]);
}

#[test]
fn what_a_captured_step_cannot_have_is_refused() {
    let Some(gpu) = support::first_driver().and_then(|()| support::gpu()) else { return };
    let mut it = Decode::new(&gpu);
    let (layer, x, token) = (it.layer.clone(), it.x.clone(), it.token(0));
    let refused = |result: Result<Replay<()>>, words: [&str; 2]| {
        let error = result.map(drop).unwrap_err().to_string();
        assert!(words.iter().all(|words| error.contains(words)), "{error}");
    };
    let causal = causal_options();
    let call = |cache: &mut KeyValueCache<f32>| layer.forward_cached(&token, cache, &causal).map(drop);
    let cache = &mut it.cache;
    refused(gpu.capture(&[], || cache.keys().map(drop)), ["KeyValueCache::keys", "from run to run"]);
    refused(gpu.capture(&[], || cache.values().map(drop)), ["KeyValueCache::values", "from run to run"]);
    let set = |cache: &mut KeyValueCache<f32>| {
        call(cache)?;
        cache.clear();
        Ok(())
    };
    refused(gpu.capture(&[token.view()], || set(cache)), ["KeyValueCache::clear", "not in every run"]);
    let lengths = gpu.tensor(&[3], [1]).unwrap();
    let padded = causal.key_lengths(&lengths);
    says(layer.forward_cached(&x, cache, &padded), &["the key lengths", "keep"]);
    refused(
        gpu.capture(&[], || layer.replayable_cache(1, 8).map(drop)),
        ["replayable_cache", "would not repeat"],
    );
    says(layer.cache(1, 8).unwrap().position(), &["KeyValueCache::position", "`len`"]);
    // A run in a capture, while the host's number has yet to be written.
    it.cache.clear();
    let step = &mut it.step;
    refused(
        gpu.capture(&[], || step.run(&[token.view()]).map(drop)),
        ["Replay::run", "cannot contain a run"],
    );
    // A capture that fails, or panics, leaves the position.
    let want = it.want(&[0]);
    let cache = &mut it.cache;
    let failed = gpu.capture(&[token.view()], || {
        call(cache)?;
        layer.forward_cached(&x, cache, &causal)
    });
    assert!(failed.is_err(), "there is no room for nine");
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        gpu.capture(&[token.view()], || -> Result<()> {
            call(cache)?;
            panic!("on purpose")
        })
    }));
    assert!(panicked.is_err());
    assert!(it.cache.is_empty());
    it.assert_run(0, &want[0]);
}

/// Two threads run replays of one cache: one at a time, or an error; the host's number stays the device's.
#[test]
fn threads_that_fill_one_cache_leave_it_consistent() {
    let Some(gpu) = support::gpu() else { return };
    let layer = ODD.layer::<f32>(&gpu, 400);
    let mut cache = layer.replayable_cache(1, 400).unwrap();
    let token = gpu.random::<f32>([1, 1, ODD.embed], Fill::Uniform, 1).unwrap();
    let mut steps = [(); 2].map(|()| {
        gpu.capture(&[token.view()], || layer.forward_cached(&token, &mut cache, &causal_options())).unwrap()
    });
    let run = |step: &mut Replay<Tensor<f32>>| {
        let ran = |_: &i32| match step.run(&[token.view()]) {
            Ok(_) => true,
            Err(Error::Input { why, .. }) if why.contains("another thread") => false,
            Err(error) => panic!("{error}"),
        };
        (0..100).filter(ran).count()
    };
    let done: usize = std::thread::scope(|scope| {
        let threads = steps.each_mut().map(|step| scope.spawn(|| run(step)));
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(cache.len(), done);
    assert_eq!(cache.position().unwrap().to_vec().unwrap(), [i32::try_from(done).unwrap()]);
}

/// The name of a block is that of the layer's error.
#[test]
fn a_block_refuses_as_its_layer_does() {
    let Some(gpu) = support::gpu() else { return };
    let block: TransformerBlock<f32> = BLOCK.block(&gpu, 8);
    let x = gpu.random::<f32>([1, 9, ODD.embed], Fill::Uniform, 5).unwrap();
    let mut cache = block.attention().replayable_cache(1, 8).unwrap();
    fails(
        block.forward_cached(&x, &mut cache, &causal_options()),
        Kind::Shape,
        &["^TransformerBlock::forward_cached: "],
    );
    assert!(cache.is_empty());
}
