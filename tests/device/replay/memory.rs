//! Whose memory a replay uses: its own until it is dropped, then the pool's.

use super::{bits, random};
use support::failure::says;
use tilewise::{Error, Fill, matmul, ops};

#[test]
fn the_pool_never_has_the_buffers_of_a_replay() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let x = random::<f32>(&gpu, &[32, 32], 1);
    let before = gpu.stats();
    let work = || {
        // The weight is dropped inside the closure, the temporaries too.
        let weight = ops::mul(&x, &x)?;
        let mut y = matmul(&x, &weight)?;
        for _ in 0..4 {
            y = ops::add(&y, &x)?;
        }
        matmul(&y, &weight)
    };
    let want = bits(&work().unwrap());
    let mut replay = gpu.capture(&[x.view()], work).unwrap();
    let held = gpu.stats();
    assert!(replay.bytes() > 0 && held.bytes_in_use - before.bytes_in_use == replay.bytes(), "{held:?}");
    // Temporaries that are dropped in the closure are used again in it.
    assert!(replay.bytes() <= 4 * 32 * 32 * 4, "{} bytes for 6 tensors of 4096", replay.bytes());
    for run in 0..50 {
        // These would take freed buffers, with other contents.
        let others: Vec<_> = (0..6).map(|seed| random::<f32>(&gpu, &[32, 32], 9 + seed)).collect();
        others.iter().for_each(|other| drop(ops::add(other, other).unwrap()));
        let output = replay.run(&[x.view()]).unwrap().clone();
        drop(ops::add(&others[0], &others[1]).unwrap());
        assert_eq!(bits(&output), want, "run {run}");
    }
    drop(replay);
    let after = gpu.stats();
    assert_eq!(after.bytes_in_use, before.bytes_in_use, "{after:?}");
}

#[test]
fn what_the_closure_only_reads_stays_even_if_nobody_else_holds_it() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let x = random::<f32>(&gpu, &[16, 16], 1);
    let weight = random::<f32>(&gpu, &[16, 16], 2);
    let want = bits(&ops::add(&matmul(&x, &weight).unwrap(), &x).unwrap());
    let input = x.clone();
    // The weight moves into the closure, and its last launch comes before an output of the same size is allocated.
    let mut replay = gpu
        .capture(&[input.view()], move || {
            let product = matmul(&x, &weight)?;
            drop(weight);
            let sum = ops::add(&product, &x)?;
            drop(x);
            Ok(sum)
        })
        .unwrap();
    drop(input);
    for run in 0..5 {
        let x = random::<f32>(&gpu, &[16, 16], 1);
        assert_eq!(bits(replay.run(&[x.view()]).unwrap()), want, "run {run}");
        drop(x);
        drop(gpu.random::<f32>([16, 16], Fill::Uniform, run).unwrap());
    }
}

#[test]
fn outputs_outlive_the_replay_and_the_gpu() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let x = random::<f32>(&gpu, &[16, 16], 1);
    let want = bits(&matmul(&x, &x).unwrap());
    let mut replay = gpu.capture(&[x.view()], || matmul(&x, &x)).unwrap();
    drop(gpu);
    let output = replay.run(&[x.view()]).unwrap().clone();
    assert_eq!(bits(&output), want);
    drop((replay, x));
    assert_eq!(bits(&output), want);
}

#[test]
fn a_capture_that_passes_the_budget_is_an_error_and_leaves_nothing() {
    let Some(gpu) = support::own(|options| options.memory_budget = Some(1 << 20)) else { return };
    let x = random::<f32>(&gpu, &[128, 128], 1);
    let before = gpu.stats();
    let mut kept = Vec::new();
    let captured = gpu.capture(&[x.view()], || {
        for _ in 0..100 {
            kept.push(ops::add(&x, &x)?);
        }
        Ok(())
    });
    assert!(matches!(captured, Err(Error::OutOfMemory { .. })), "{captured:?}");
    says(kept[0].to_vec(), &["the closure of `capture` failed"]);
    says(matmul(&kept[0], &x), &["the closure of `capture` failed"]);
    drop(kept);
    assert_eq!(gpu.stats().bytes_in_use, before.bytes_in_use);
    assert_eq!(matmul(&x, &x).unwrap().to_vec().unwrap().len(), 128 * 128);
}

#[test]
fn a_thousand_captures_leave_nothing_behind() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let x = random::<f32>(&gpu, &[16, 16], 1);
    let mut held = Vec::new();
    for round in 0..1000 {
        let mut replay = gpu.capture(&[x.view()], || ops::softmax(&matmul(&x, &x)?, 1)).unwrap();
        replay.run(&[x.view()]).unwrap();
        if round % 100 == 99 {
            gpu.wait().unwrap();
            let stats = gpu.stats();
            held.push((stats.bytes_in_use, stats.bytes_cached, stats.buffers_created));
        }
    }
    assert_eq!(held[1], held[9], "{held:?}");
}
