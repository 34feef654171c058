//! The inputs of a run: the captured tensors, others, new contents.

use super::{bits, on_every_device, random};
use support::failure::says;
use tilewise::Activation;
use tilewise::{Gpu, Result, Tensor, matmul, ops};

/// A small network: two layers, an activation, a softmax.
fn network(x: &Tensor<f32>, weights: &[Tensor<f32>; 2]) -> Result<Tensor<f32>> {
    let hidden = ops::activate(&matmul(x, &weights[0])?, Activation::Relu)?;
    ops::softmax(&matmul(&hidden, &weights[1])?, 1)
}

fn weights(gpu: &Gpu) -> [Tensor<f32>; 2] {
    [random(gpu, &[24, 40], 1), random(gpu, &[40, 16], 2)]
}

#[test]
fn a_run_reads_the_inputs_that_it_is_given() {
    on_every_device("inputs", |gpu| {
        let (x, weights) = (random::<f32>(gpu, &[8, 24], 3), weights(gpu));
        let mut replay = gpu.capture(&[x.view()], || network(&x, &weights)).unwrap();
        assert_eq!(replay.launches(), 4);
        for round in 0..12 {
            // Five tensors in turn: more than the sets of inputs whose bind groups are kept.
            let y = random::<f32>(gpu, &[8, 24], 10 + round % 5);
            let want = bits(&network(&y, &weights).unwrap());
            let before = gpu.stats();
            let got = replay.run(&[y.view()]).unwrap().clone();
            let after = gpu.stats();
            assert_eq!(after.launches - before.launches, 4);
            assert_eq!((after.buffers_created, after.plans), (before.buffers_created, before.plans));
            assert_eq!(bits(&got), want, "{gpu:?}, round {round}");
        }
        let want = bits(&network(&x, &weights).unwrap());
        assert_eq!(bits(replay.run(&[x.view()]).unwrap()), want, "{gpu:?}");
    });
}

#[test]
fn new_contents_are_seen_in_the_recorded_order() {
    on_every_device("new contents", |gpu| {
        let (mut x, mut weights) = (random::<f32>(gpu, &[8, 24], 3), weights(gpu));
        let mut replay = gpu.capture(&[x.view()], || network(&x, &weights)).unwrap();
        for round in 0..5 {
            let data = tilewise::Fill::Uniform.values::<f32>(8 * 24, 50 + round);
            let first = replay.run(&[x.view()]).unwrap().read();
            let before = bits(&network(&x, &weights).unwrap());
            replay.write(0, &data).unwrap();
            let second = replay.run(&[x.view()]).unwrap().read();
            // The replay is no obstacle to the owner of the input either.
            x.write(&data).unwrap();
            weights[1].write(&tilewise::Fill::Uniform.values::<f32>(40 * 16, 90 + round)).unwrap();
            let third = bits(replay.run(&[x.view()]).unwrap());
            assert_eq!(third, bits(&network(&x, &weights).unwrap()), "a weight may change between runs");
            let [first, second] = [first, second].map(|read| pollster::block_on(read).unwrap());
            assert_eq!(bytemuck::cast_slice::<f32, u8>(&first), before, "{gpu:?}, round {round}");
            assert_ne!(first, second);
        }
    });
}

#[test]
fn inputs_may_be_views_and_have_any_type() {
    on_every_device("views", |gpu| {
        let wide = random::<tilewise::f16>(gpu, &[30, 128], 4);
        let x = wide.slice(1, 0..24).unwrap();
        let scale = gpu.tensor(&[2.0f32], [1]).unwrap();
        let work = |x: &Tensor<tilewise::f16>, scale: &Tensor<f32>| ops::mul(&x.t().cast::<f32>()?, scale);
        let mut replay = gpu.capture(&[x.view(), scale.view()], || work(&x, &scale)).unwrap();
        for (start, by) in [(0, 3.0f32), (0, -0.5)] {
            let x = wide.slice(1, start..start + 24).unwrap();
            let scale = gpu.tensor(&[by], [1]).unwrap();
            let want = bits(&work(&x, &scale).unwrap());
            assert_eq!(bits(replay.run(&[x.view(), scale.view()]).unwrap()), want, "{gpu:?}");
        }
        let rows = random::<tilewise::f16>(gpu, &[30, 256], 5);
        let other = rows.slice(1, 0..24).unwrap();
        says(replay.run(&[other.view(), scale.view()]), &["its strides"]);
        let moved = wide.slice(1, 4..28).unwrap();
        says(replay.run(&[moved.view(), scale.view()]), &["its place in its buffer modulo 256 bytes"]);
    });
}
