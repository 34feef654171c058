//! The tensor of the position, as everyone sees it whom the host does not tell that it has set the number.

use super::replayable::{bits, causal_options};
use super::replayable_decode::Decode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use support::failure::says;
use tilewise::{Error, Tensor, ops};

/// A replay, a call, a read and an input see what `truncate` has set, whether they asked for the tensor before or after.
#[test]
fn whoever_holds_the_position_sees_what_the_host_sets() {
    let Some(gpu) = support::gpu() else { return };
    let mut it = Decode::new(&gpu);
    let want = it.want(&[0, 1, 2, 3]);
    let table = gpu.tensor(&[10, 11, 12, 13, 14, 15, 16, 17, 18], [9]).unwrap();
    let held = it.cache.position().unwrap().clone();
    let mut inside = gpu.capture(&[], || ops::slice_at(&table, 0, it.cache.position()?, 1)).unwrap();
    let mut outside = gpu.capture(&[], || ops::slice_at(&table, 0, &held, 1)).unwrap();
    let other = gpu.tensor(&[7], [1]).unwrap();
    let mut input = gpu.capture(&[other.view()], || ops::slice_at(&table, 0, &other, 1)).unwrap();
    let mut check = |len: i32| {
        let want = vec![10 + len];
        assert_eq!(inside.run(&[]).unwrap().to_vec().unwrap(), want, "captured inside");
        assert_eq!(outside.run(&[]).unwrap().to_vec().unwrap(), want, "captured before");
        assert_eq!(input.run(&[held.view()]).unwrap().to_vec().unwrap(), want, "an input");
        assert_eq!(ops::slice_at(&table, 0, &held, 1).unwrap().to_vec().unwrap(), want, "a call");
        assert_eq!(held.to_vec().unwrap(), [len], "a read");
    };
    check(0);
    it.assert_run(0, &want[0]);
    it.assert_run(1, &want[1]);
    check(2);
    it.cache.truncate(1);
    check(1);
    it.assert_run(1, &want[1]);
    it.cache.truncate(1);
    assert_eq!(held.to_vec().unwrap(), [1], "a read comes first");
    it.cache.clear();
    assert_eq!(ops::slice_at(&table, 0, &held, 1).unwrap().to_vec().unwrap(), [10], "a call comes first");
    (0..4).for_each(|at| it.assert_run(at, &want[at]));
    it.cache.truncate(3);
    assert_eq!(input.run(&[held.view()]).unwrap().to_vec().unwrap(), [13], "an input comes first");
    it.cache.truncate(2);
    assert_eq!(outside.run(&[]).unwrap().to_vec().unwrap(), [12], "a replay comes first");
    // In a frame, and while one is open.
    it.cache.truncate(1);
    let (frame, encoder) = it.frame(|it| {
        it.run(1)?;
        it.cache.truncate(0);
        ops::slice_at(&table, 0, &held, 1)
    });
    assert!(matches!(outside.run(&[]), Err(Error::Input { .. })), "the frame writes it");
    it.cache.truncate(0);
    gpu.queue().submit([encoder.finish()]);
    assert_eq!(frame.unwrap().to_vec().unwrap(), [10]);
    assert_eq!(outside.run(&[]).unwrap().to_vec().unwrap(), [10]);
    it.assert_run(0, &want[0]);
}

/// Its old number is no one's: the host has counted on.
#[test]
fn the_position_is_not_reverted_by_itself() {
    let Some(gpu) = support::gpu() else { return };
    let mut it = Decode::new(&gpu);
    let want = it.want(&[0, 1]);
    it.assert_run(0, &want[0]);
    let held = it.cache.position().unwrap().clone();
    let (_, encoder) = it.frame(|it| it.run(1));
    drop(encoder);
    says(held.revert(), &["revert: the tensor", "`truncate`"]);
    it.cache.truncate(1);
    it.assert_run(1, &want[1]);
}

/// Nobody but the cache writes it: the host would count on from another number.
#[test]
fn the_position_is_not_written_by_others() {
    let Some(gpu) = support::gpu() else { return };
    let mut it = Decode::new(&gpu);
    let want = it.want(&[0, 1]);
    it.assert_run(0, &want[0]);
    let (mut held, one) = (it.cache.position().unwrap().writable_view(), gpu.tensor(&[1], [1]).unwrap());
    let mut replay = gpu.capture(&[one.view()], || ops::neg(&one)).unwrap();
    assert_eq!(replay.run(&[held.view()]).unwrap().to_vec().unwrap(), [-1]);
    let captured =
        |held: &mut Tensor<i32>| gpu.capture(&[one.view()], || ops::add_assign(held, &one)).map(drop);
    let refused = [
        ("add_assign", ops::add_assign(&mut held, &one)),
        ("copy_into", ops::copy_into(&one, &mut held)),
        ("write", held.write(&[7])),
        ("write_from", held.write_from(|to| to.write(0, &[7]))),
        ("Replay::write", replay.write(0, &[7])),
        ("Replay::write_from", replay.write_from(0, |to| to.write(0, &[7]))),
        ("capture", captured(&mut held)),
    ];
    for (name, refused) in refused {
        let error = refused.expect_err(name).to_string();
        assert!(error.contains("the position of a cache"), "{name}: {error}");
    }
    assert_eq!(held.to_vec().unwrap(), [1]);
    it.assert_run(1, &want[1]);
}

/// Calls and runs of two threads on one cache: each key is rotated by the angle of its own position.
#[test]
fn a_call_and_the_runs_of_another_thread_take_turns() {
    const CAPACITY: usize = 1500;
    let Some(gpu) = support::gpu() else { return };
    let (it, layer) = (Decode::new(&gpu), super::ODD.layer::<f32>(&gpu, CAPACITY));
    let mut cache = layer.replayable_cache(1, CAPACITY).unwrap();
    let token = it.token(0);
    let capture = || layer.forward_cached(&token, &mut cache, &causal_options());
    let mut step = gpu.capture(&[token.view()], capture).unwrap();
    let is_turn_of_another = |error: Error| match error {
        Error::Input { why, .. } if why.contains("another thread") => false,
        error => panic!("{error}"),
    };
    let are_called = AtomicBool::new(false);
    let count = std::thread::scope(|scope| {
        let runs = scope.spawn(|| {
            let run = |_: &i32| {
                std::thread::sleep(Duration::from_micros(20));
                step.run(&[token.view()]).map_or_else(is_turn_of_another, |_| true)
            };
            (0..1300).take_while(|_| !are_called.load(Ordering::Acquire)).filter(run).count()
        });
        let mut call = || {
            let called = layer.forward_cached(&token, &mut cache, &causal_options());
            called.map_or_else(is_turn_of_another, |_| true)
        };
        let calls = (0..).filter(|_| call()).take(150).count();
        are_called.store(true, Ordering::Release);
        let runs = runs.join().unwrap();
        println!("{calls} calls, {runs} runs");
        calls + runs
    });
    assert_eq!(cache.len(), count);
    let mut alone = layer.replayable_cache(1, CAPACITY).unwrap();
    for _ in 0..count {
        layer.forward_cached(&token, &mut alone, &causal_options()).unwrap();
    }
    assert!(bits(&cache.keys().unwrap()) == bits(&alone.keys().unwrap()), "{count} positions");
    assert_eq!(cache.position().unwrap().to_vec().unwrap(), [i32::try_from(count).unwrap()]);
}
