//! A replay keeps no memory of tensors that were its inputs and are dropped.

use super::{bits, random};
use support::process;
use tilewise::{GpuOptions, Tensor, matmul, ops};

const MIB: usize = 1 << 20;

#[test]
fn dropped_inputs_are_neither_in_use_nor_resident() {
    if !process::is_alone(&format!("{}::dropped_inputs_are_neither_in_use_nor_resident", module_path!())) {
        return;
    }
    let Some(gpu) = support::own(|options| options.memory_budget = Some(100 << 20)) else { return };
    let n = 10 * MIB;
    let inputs = |k: u8| gpu.tensor(&vec![f32::from(k); n], [n]).unwrap();
    let x = inputs(0);
    assert_eq!(ops::sum(&x, ..).unwrap().to_vec().unwrap(), [0.0]);
    gpu.wait().unwrap();
    let mut step = gpu.capture(&[x.view()], || ops::sum(&x, ..)).unwrap();
    let own = step.bytes();
    drop(x);
    gpu.trim();
    gpu.wait().unwrap();
    assert_eq!(gpu.stats().bytes_in_use, own, "the captured input is the pool's");
    let Some(before) = process::bytes("VmRSS") else { return };
    for k in 1..7 {
        let y = inputs(k);
        assert_eq!(step.run(&[y.view()]).unwrap().to_vec().unwrap(), [f32::from(k) * n as f32]);
        drop(y);
        gpu.wait().unwrap();
        gpu.trim();
        gpu.wait().unwrap();
        let stats = gpu.stats();
        assert_eq!((stats.bytes_in_use, stats.bytes_cached, step.bytes()), (own, 0, own), "input {k}");
        let now = process::bytes("VmRSS").unwrap();
        println!("input {k}: {} MiB, at first {} MiB", now >> 20, before >> 20);
        assert!(now < before + (60 << 20), "input {k}: {} MiB more", (now - before) >> 20);
    }
}

/// The budget has room for two inputs: a third one takes the place of a free one, whose bind groups go, too.
#[test]
fn inputs_within_the_budget_of_two_are_right() {
    let Some(gpu) = support::own(|options| options.memory_budget = Some(96 << 10)) else { return };
    let input = |k: u16, n: usize| gpu.tensor(&vec![f32::from(k); n], [n]).unwrap();
    let n = 8 << 10;
    let x = input(1, n);
    let mut step = gpu.capture(&[x.view()], || ops::sum(&x, ..)).unwrap();
    drop(x);
    for k in 0..40u16 {
        // Of changing sizes between, so that the pool evicts.
        drop(input(k, 1000 + 800 * usize::from(k % 8)));
        let y = input(k, n);
        assert_eq!(step.run(&[y.view()]).unwrap().to_vec().unwrap(), [f32::from(k) * n as f32], "run {k}");
        let stats = gpu.stats();
        assert!(stats.bytes_in_use + stats.bytes_cached <= 96 << 10, "{stats:?}");
    }
}

/// It counts its result, and a weight that it alone keeps; not its input, and not bind groups, which are no bytes of the pool.
#[test]
fn a_replay_counts_what_only_it_keeps() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let x = random::<f32>(&gpu, &[32, 32], 1);
    let weight = random::<f32>(&gpu, &[32, 32], 2);
    let want = bits(&matmul(&x, &weight).unwrap());
    gpu.wait().unwrap();
    let before = gpu.stats().bytes_in_use;
    let mut replay = gpu.capture(&[x.view()], || matmul(&x, &weight)).unwrap();
    let own = replay.bytes();
    drop(weight);
    assert_eq!(replay.bytes(), own + 4096, "it keeps the weight");
    assert_eq!(gpu.stats().bytes_in_use, before + own);
    drop(x);
    assert_eq!(replay.bytes(), own + 4096, "it does not keep the input");
    assert_eq!(gpu.stats().bytes_in_use, before + own - 4096);
    let again = random::<f32>(&gpu, &[32, 32], 1);
    assert_eq!(bits(replay.run(&[again.view()]).unwrap()), want);
    drop((replay, again));
    assert_eq!(gpu.stats().bytes_in_use, 0);
}

/// An input without elements takes the place of nothing, even if its buffer is used.
#[test]
fn an_empty_input_moves_no_other_tensor() {
    let Some(gpu) = support::own(|_: &mut GpuOptions| ()) else { return };
    let x = random::<f32>(&gpu, &[64], 1);
    let empty = x.slice(0, ..0).unwrap();
    let elsewhere = random::<f32>(&gpu, &[64], 2).slice(0, ..0).unwrap();
    let want = bits(&ops::neg(&x).unwrap());
    let mut replay = gpu.capture(&[empty.view()], || ops::neg(&x)).unwrap();
    let runs: [&Tensor<f32>; 2] = [&empty, &elsewhere];
    for input in runs {
        assert_eq!(bits(replay.run(&[input.view()]).unwrap()), want);
    }
}
