//! Runs inside an application's commands.

use super::{bits, on_every_device, random};
use support::failure::{Kind, fails, says};
use tilewise::{Fill, matmul, ops};

#[test]
fn a_run_goes_into_the_applications_encoder() {
    on_every_device("a frame", |gpu| {
        let [x, y, weight] = [1, 2, 3].map(|seed| random::<f32>(gpu, &[8, 8], seed));
        let mut replay = gpu.capture(&[x.view()], || ops::add(&matmul(&x, &weight)?, &x)).unwrap();
        let want = [&x, &y].map(|x| bits(&ops::add(&matmul(x, &weight).unwrap(), x).unwrap()));
        let before = gpu.stats();
        for frame in 0..20 {
            let input = [&x, &y][frame % 2];
            let mut encoder = gpu.device().create_command_encoder(&Default::default());
            let squared = gpu
                .record_into(&mut encoder, || {
                    let sum = replay.run(&[input.view()])?;
                    Ok([sum.clone(), ops::mul(sum, sum)?])
                })
                .unwrap();
            says(squared[0].to_vec(), &["have not been submitted"]);
            says(replay.run(&[input.view()]), &["have not been submitted"]);
            gpu.queue().submit([encoder.finish()]);
            assert_eq!(bits(&squared[0]), want[frame % 2], "{gpu:?}, frame {frame}");
        }
        assert_eq!(gpu.stats().launches - before.launches, 60, "{gpu:?}");
        let commands = {
            replay.run(&[x.view()]).unwrap();
            gpu.take_commands().unwrap()
        };
        gpu.queue().submit([commands]);
        assert_eq!(bits(replay.outputs()), want[0], "{gpu:?}");
    });
}

#[test]
fn a_frame_that_is_dropped_leaves_no_result_until_the_next_run() {
    on_every_device("a dropped frame", |gpu| {
        let [x, weight] = [1, 2].map(|seed| random::<f32>(gpu, &[8, 8], seed));
        let mut replay = gpu.capture(&[x.view()], || matmul(&x, &weight)).unwrap();
        let want = bits(replay.run(&[x.view()]).unwrap());
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        gpu.record_into(&mut encoder, || replay.run(&[x.view()]).map(drop)).unwrap();
        drop(encoder);
        fails(replay.outputs().to_vec(), Kind::Device, &["were dropped"]);
        assert_eq!(bits(replay.run(&[x.view()]).unwrap()), want, "{gpu:?}");
    });
}

/// What a random matrix (8, 8) contains.
fn contents(seed: u64) -> Vec<u8> {
    bytemuck::cast_slice(&Fill::Uniform.values::<f32>(64, seed)).to_vec()
}

#[test]
fn a_replay_may_be_dropped_before_its_runs_are_submitted() {
    on_every_device("dropped first", |gpu| {
        for round in 0..10 {
            let [x, weight] = [1, 2].map(|seed| random::<f32>(gpu, &[8, 8], seed));
            let want = bits(&matmul(&ops::mul(&x, &weight).unwrap(), &weight).unwrap());
            let mut replay = gpu.capture(&[x.view()], || matmul(&ops::mul(&x, &weight)?, &weight)).unwrap();
            let mut encoder = gpu.device().create_command_encoder(&Default::default());
            let frame = gpu.record_into(&mut encoder, || replay.run(&[x.view()]).cloned()).unwrap();
            drop((replay, x, weight));
            // What takes memory now must not get the buffers of the frame.
            let others: Vec<_> = (0..8).map(|seed| random::<f32>(gpu, &[8, 8], 30 + seed)).collect();
            let sums = others.iter().map(|other| ops::add(other, other).unwrap());
            let sums: Vec<_> = sums.collect();
            gpu.queue().submit([encoder.finish()]);
            assert_eq!(bits(&frame), want, "{gpu:?}, round {round}");
            assert!(others.iter().zip(30..).all(|(other, seed)| bits(other) == contents(seed)), "{gpu:?}");
            drop((sums, others));
            // The same for the recording of the library.
            let [x, weight] = [1, 2].map(|seed| random::<f32>(gpu, &[8, 8], seed));
            let mut replay = gpu.capture(&[x.view()], || matmul(&ops::mul(&x, &weight)?, &weight)).unwrap();
            let result = replay.run(&[x.view()]).unwrap().clone();
            drop((replay, x, weight));
            let others: Vec<_> = (0..8).map(|seed| random::<f32>(gpu, &[8, 8], 40 + seed)).collect();
            assert_eq!(bits(&result), want, "{gpu:?}, round {round}");
            assert!(others.iter().zip(40..).all(|(other, seed)| bits(other) == contents(seed)), "{gpu:?}");
        }
    });
}
