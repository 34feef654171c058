//! Replays in turns, in several encoders, timed, and dropped in every order.

use super::bits::RightOf;
use super::{bits, on_every_device, random};
use support::failure::says;
use tilewise::gpu::Submission;
use tilewise::sketch::{Rsvd, SkLinear, Sketch, SketchKind};
use tilewise::{Tensor, f16, matmul, ops};

#[test]
fn runs_are_timed_and_the_pool_is_trimmed_between_them() {
    for submission in [Submission::Batched, Submission::EachLaunch] {
        let Some(gpu) = support::own(|options| options.submission = submission) else { return };
        let sketch = Sketch::new(SketchKind::Gaussian, [16, 64], 6).unwrap();
        let hadamard = Sketch::new(SketchKind::Hadamard, [16, 64], 6).unwrap();
        let sjlt = Sketch::new(SketchKind::Sjlt { nonzeros: 2 }, [16, 64], 5).unwrap();
        let [x, y] = [1, 2].map(|seed| random::<f32>(&gpu, &[8, 64], seed));
        let work = |x: &Tensor<f32>| {
            let a = ops::add(&hadamard.right_of(x)?, &sketch.right_of(x)?)?;
            ops::add(&a, &sjlt.right_of(x)?.cast::<f16>()?.cast::<f32>()?)
        };
        let want = [&x, &y].map(|x| bits(&work(x).unwrap()));
        gpu.trim();
        let mut replay = gpu.capture(&[x.view()], || work(&x)).unwrap();
        for round in 0..5 {
            gpu.trim();
            let others: Vec<_> =
                [64usize, 128, 256, 512, 1024, 2048].iter().map(|&n| random::<f32>(&gpu, &[n], 5)).collect();
            let (_, timing) = gpu.time(|| replay.run(&[[&x, &y][round % 2].view()]).map(drop)).unwrap();
            assert!(timing.seconds > 0.0);
            assert_eq!(bits(replay.outputs()), want[round % 2], "round {round}");
            drop(others);
        }
        std::mem::forget(replay);
    }
}

#[test]
fn two_replays_take_turns_with_exported_outputs() {
    on_every_device("ping-pong", |gpu| {
        let [x, w] = [1, 2].map(|seed| random::<f32>(gpu, &[8, 8], seed));
        let step = |x: &Tensor<f32>| ops::softmax(&matmul(x, &w)?, 1);
        let mut a = gpu.capture(&[x.view()], || step(&x)).unwrap();
        let mut b = gpu.capture(&[x.view()], || step(&x)).unwrap();
        let mut want = x.clone();
        let mut now = a.run(&[x.view()]).unwrap().clone();
        want = step(&want).unwrap();
        says(b.outputs().buffer().map(drop), &["`capture` runs nothing"]);
        let buffer = b.run(&[x.view()]).unwrap().buffer().unwrap().0.clone();
        let again = Tensor::<f32>::from_buffer(gpu, buffer.clone(), .., [8, 8]).unwrap();
        for round in 0..20 {
            let mut encoder = gpu.device().create_command_encoder(&Default::default());
            now = match round % 4 {
                0 => b.run(&[now.view()]).unwrap().clone(),
                1 => a.run(&[again.view()]).unwrap().clone(),
                2 => gpu.record_into(&mut encoder, || b.run(&[now.view()]).cloned()).unwrap(),
                _ => gpu
                    .record_into(&mut encoder, || {
                        a.run(&[again.view()])?;
                        Ok(a.outputs().clone())
                    })
                    .unwrap(),
            };
            says(
                b.run(&[again.view()]),
                &[if round % 4 < 2 { "a buffer that the replay writes" } else { "a buffer" }],
            );
            gpu.queue().submit([encoder.finish()]);
            want = step(&want).unwrap();
            assert_eq!(bits(&now), bits(&want), "{gpu:?} {round}");
        }
        drop((a, again));
        let others: Vec<_> = (0..8).map(|s| random::<f32>(gpu, &[8, 8], s)).collect();
        drop(b);
        drop(others);
        let t = Tensor::<f32>::from_buffer(gpu, buffer, .., [8, 8]).unwrap();
        t.to_vec().unwrap();
    });
}

#[test]
fn encoders_and_replays_are_dropped_in_every_order() {
    on_every_device("encoders", |gpu| {
        let [x, y, w] = [1, 2, 3].map(|seed| random::<f32>(gpu, &[8, 8], seed));
        let work = |x: &Tensor<f32>| ops::add(&matmul(x, &w)?, x);
        let want = [&x, &y].map(|x| bits(&work(x).unwrap()));
        let mut a = gpu.capture(&[x.view()], || work(&x)).unwrap();
        let mut b = gpu.capture(&[x.view()], || work(&x)).unwrap();
        let new = || gpu.device().create_command_encoder(&Default::default());
        let (mut e, mut f) = (new(), new());
        // Two runs of one replay in one encoder, two replays in two encoders.
        let first = gpu
            .record_into(&mut e, || {
                a.run(&[y.view()])?;
                let c = ops::add(a.outputs(), &x)?;
                a.run(&[x.view()])?;
                Ok(c)
            })
            .unwrap();
        gpu.record_into(&mut f, || b.run(&[y.view()]).map(drop)).unwrap();
        gpu.record_into(&mut e, || a.run(&[y.view()]).map(drop)).unwrap();
        says(gpu.record_into(&mut f, || a.run(&[y.view()]).map(drop)), &["have not been submitted"]);
        says(a.write(0, &[1.0f32; 64]), &["have not been submitted"]);
        gpu.queue().submit([f.finish(), e.finish()]);
        assert_eq!(bits(a.outputs()), want[1]);
        assert_eq!(bits(b.outputs()), want[1]);
        let sum = {
            let t = gpu.capture(&[], || work(&y));
            let mut t = t.unwrap();
            bits(&ops::add(t.run(&[]).unwrap(), &x).unwrap())
        };
        assert_eq!(bits(&first), sum);
        // Dropped between, and everything dropped in other orders.
        let mut e = new();
        gpu.record_into(&mut e, || a.run(&[x.view()]).map(drop)).unwrap();
        let commands = e.finish();
        let out = a.outputs().clone();
        drop((a, x, w));
        drop(commands);
        says(out.to_vec(), &["were dropped"]);
        drop(out);
        let mut e = new();
        let out = gpu.record_into(&mut e, || b.run(&[y.view()]).cloned()).unwrap();
        drop((b, y));
        let junk: Vec<_> = (0..20).map(|s| random::<f32>(gpu, &[8, 8], s)).collect();
        gpu.queue().submit([e.finish()]);
        drop(junk);
        assert_eq!(bits(&out), want[1]);
    });
}

#[test]
fn a_closure_may_discard_errors_and_use_empty_tensors() {
    on_every_device("odd closures", |gpu| {
        let x = random::<f32>(gpu, &[8, 8], 1);
        let e = gpu.empty::<f32>([0, 8]).unwrap();
        let mut r = gpu
            .capture(&[x.view(), e.view()], || {
                let _ = Rsvd::new(&x).rank(2).run();
                let _ = ops::add(&e, &e)?;
                Ok((e.clone(), matmul(&e, &x)?, ops::add(&x, &x)?))
            })
            .unwrap();
        let y = random::<f32>(gpu, &[8, 8], 2);
        let e2 = gpu.empty::<f32>([0, 8]).unwrap();
        let (a, b, c) = r.run(&[y.view(), e2.view()]).unwrap();
        assert!(a.to_vec().unwrap().is_empty() && b.to_vec().unwrap().is_empty());
        assert_eq!(bits(c), bits(&ops::add(&y, &y).unwrap()));
        let c = c.clone();
        drop((r, x));
        bits(&c);
        let mut none = gpu.capture(&[], || Ok(7)).unwrap();
        assert_eq!(*none.run(&[]).unwrap(), 7);
    });
}

/// The gradient of a bias sums by a number that is uploaded.
#[test]
fn a_backward_pass_is_captured() {
    on_every_device("a backward pass", |gpu| {
        let layer = SkLinear::<f32>::builder(1, 2).seed(3).allow_larger().bias(&random(gpu, &[8], 9));
        let layer = layer.random(gpu, [16, 8]).unwrap();
        let dy = random::<f32>(gpu, &[8, 8], 2);
        let work = |x: &Tensor<f32>| {
            let (dx, gradients) = layer.backward(x, &layer.hidden(x)?, &dy)?;
            let [s1, s2, bias] = ["S1s", "S2s", "bias"].map(|name| gradients.get(name).unwrap().clone());
            Ok([dx, s1, s2, bias])
        };
        let [x, y] = [4, 5].map(|seed| random::<f32>(gpu, &[8, 16], seed));
        let want = [&x, &y].map(|x| work(x).unwrap().map(|of| bits(&of)));
        let mut replay = gpu.capture(&[x.view()], || work(&x)).unwrap();
        for round in 0..6 {
            let got = replay.run(&[[&x, &y][round % 2].view()]).unwrap();
            assert_eq!(got.each_ref().map(bits), want[round % 2], "{gpu:?}, round {round}");
            gpu.trim();
            drop([1, 2, 3].map(|seed| random::<f32>(gpu, &[1], seed)));
        }
    });
}
