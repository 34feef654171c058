//! Sketches whose seed is an input: each run uses another one.

use super::{bits, on_every_device, random};
use support::failure::says;
use tilewise::sketch::{Direction, Sketch, SketchKind, SparseAxis};
use tilewise::{Gpu, Result, Tensor};

const KINDS: [SketchKind; 4] = [
    SketchKind::Gaussian,
    SketchKind::Sjlt { nonzeros: 2 },
    SketchKind::SparseSign { axis: SparseAxis::Long, nonzeros: 3 },
    SketchKind::Hadamard,
];

const SHAPE: [usize; 2] = [16, 64];

/// Ten seeds, some with a high word.
fn seeds() -> impl Iterator<Item = u64> {
    (0..10u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (i % 3 * 20))
}

fn sketch(kind: SketchKind, seed: u64) -> Sketch {
    Sketch::new(kind, SHAPE, seed).unwrap()
}

#[test]
fn each_run_has_the_bits_of_its_seed() {
    on_every_device("seeds", |gpu| {
        for kind in KINDS {
            let x = random::<f32>(gpu, &[64, 3], 1);
            let seed = gpu.tensor(&Sketch::seed_words(1), [2]).unwrap();
            let s = sketch(kind, 0).seeded_by(&seed).unwrap();
            // There and back.
            let mut replay = gpu
                .capture(&[seed.view()], || {
                    let y = s.apply(&x, 0)?;
                    Ok([s.adjoint(&y, 0)?, y])
                })
                .unwrap();
            drop(s);
            let eager = |n: u64| -> Result<[Tensor<f32>; 2]> {
                let s = sketch(kind, n);
                let y = s.apply(&x, 0)?;
                Ok([s.adjoint(&y, 0)?, y])
            };
            let wants: Vec<_> = seeds().map(|n| eager(n).unwrap().map(|t| bits(&t))).collect();
            // The first run and read may create staging buffers.
            replay.run(&[seed.view()]).unwrap().iter().for_each(|t| drop(bits(t)));
            for (n, want) in seeds().zip(&wants) {
                gpu.flush().unwrap();
                let before = gpu.stats();
                replay.write(0, &Sketch::seed_words(n)).unwrap();
                replay.run(&[seed.view()]).unwrap();
                let after = gpu.stats();
                assert_eq!(after.launches - before.launches, replay.launches() as u64);
                assert_eq!(after.bytes_staged - before.bytes_staged, 8, "only the seed is uploaded");
                assert_eq!(
                    (after.pipelines, after.plans, after.buffers_created, after.bytes_in_use),
                    (before.pipelines, before.plans, before.buffers_created, before.bytes_in_use)
                );
                assert_eq!(&replay.outputs().each_ref().map(bits), want, "{gpu:?}: {kind:?}, {n:#x}");
            }
            // A seed of the host does not change.
            let fixed = sketch(kind, 5);
            let mut replay = gpu.capture(&[x.view()], || fixed.apply(&x, 0)).unwrap();
            let want = bits(&fixed.apply(&x, 0).unwrap());
            for _ in 0..2 {
                assert_eq!(bits(replay.run(&[x.view()]).unwrap()), want);
            }
        }
    });
}

#[test]
fn another_tensor_may_hold_the_seed_of_a_run() {
    on_every_device("tensors of seeds", |gpu| {
        let x = random::<f32>(gpu, &[64, 3], 1);
        // The seeds of all steps, uploaded at once. Their views begin at several places, so each is copied.
        let words: Vec<i32> = seeds().flat_map(Sketch::seed_words).collect();
        let all = gpu.tensor(&words, [10, 2]).unwrap();
        let seed = gpu.tensor(&[0, 0], [2]).unwrap();
        let s = sketch(SketchKind::Hadamard, 0).seeded_by(&seed).unwrap();
        let mut replay = gpu.capture(&[seed.view()], || s.left(&x)).unwrap();
        for (i, n) in seeds().enumerate() {
            let row = all.slice(0, i..i + 1).unwrap().reshape([2]).unwrap();
            let mut now = gpu.empty::<i32>([2]).unwrap();
            tilewise::ops::copy_into(&row, &mut now).unwrap();
            let got = bits(replay.run(&[now.view()]).unwrap());
            assert_eq!(got, bits(&sketch(SketchKind::Hadamard, n).left(&x).unwrap()), "{gpu:?} {n:#x}");
        }
        says(replay.run(&[gpu.tensor(&[0; 3], [3]).unwrap().view()]), &["shape"]);
    });
}

/// The table of the normal distribution is a constant of the plan: the first use may be in a capture.
#[test]
fn the_first_use_may_be_in_a_capture_or_an_encoder() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let x = random::<f32>(&gpu, &[64, 3], 1);
    let seed = gpu.tensor(&Sketch::seed_words(1 << 50), [2]).unwrap();
    let s = sketch(SketchKind::Gaussian, 0).seeded_by(&seed).unwrap();
    let mut replay = gpu.capture(&[seed.view()], || s.left(&x)).unwrap();
    gpu.trim();
    let want = bits(&sketch(SketchKind::Gaussian, 1 << 50).left(&x).unwrap());
    assert_eq!(bits(replay.run(&[seed.view()]).unwrap()), want);
    says(gpu.capture(&[], || gpu.tensor(&Sketch::seed_words(1), [2])), &["capture"]);

    let recorded = |gpu: &Gpu| {
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        let y = gpu.record_into(&mut encoder, || s.left(&x)).unwrap();
        gpu.queue().submit([encoder.finish()]);
        bits(&y)
    };
    assert_eq!(recorded(&gpu), want);
    assert_eq!(s.plan(Direction::Forward, &x, 0).unwrap().parameters().len(), 3);
}
