//! A run has the bits of the same operations without a replay, whatever else is recorded in the meantime.

use super::{bits, on_every_device, random};
use std::sync::atomic::{AtomicBool, Ordering};
use tilewise::attention::{AttentionKernel, AttentionOptions, attention};
use tilewise::clifford::layer::{GradeNorm, LayerProduct};
use tilewise::clifford::{BladeAxis, Multivectors, Signature};
use tilewise::gemm::{GemmKernel, SplitK};
use tilewise::gpu::{CoopScalar, CoopScope};
use tilewise::sketch::{SkLinear, Sketch, SketchKind};
use tilewise::{Activation, Gemm, Gpu, Precision, Result, Tensor, f16, matmul, ops};

/// A sequence of each family, as one closure of its input.
type Family<'a> = (&'static str, Box<dyn Fn(&Tensor<f32>) -> Result<Tensor<f32>> + 'a>);

/// Runs of each replay.
const RUNS: u64 = 100;

const ROWS: usize = 8;
const COLS: usize = 64;

fn families(gpu: &Gpu) -> Vec<Family<'static>> {
    let weight = random::<f32>(gpu, &[COLS, 24], 1);
    let bias = random::<f32>(gpu, &[24], 2);
    let layer = SkLinear::<f32>::builder(2, 4).seed(3).random(gpu, [COLS, 24]).unwrap();
    let (hadamard, sparse, dense) = (
        Sketch::new(SketchKind::Hadamard, [16, COLS], 4).unwrap(),
        Sketch::new(SketchKind::Sjlt { nonzeros: 2 }, [16, COLS], 5).unwrap(),
        Sketch::new(SketchKind::Gaussian, [16, COLS], 6).unwrap(),
    );
    let algebra = Signature::CL3;
    let clifford = LayerProduct::new(algebra).norm(GradeNorm::default());
    let paths = random::<f32>(gpu, &[8, algebra.paths().len()], 7);
    let scale = random::<f32>(gpu, &[8, 1 + algebra.dimension()], 8);
    let [w1, w2, w3] = [weight.clone(), weight.clone(), weight];
    let mut families: Vec<Family<'static>> = vec![
        (
            "product in parts",
            Box::new(move |x| Gemm::new(x, &w1).bias(&bias).split_k(SplitK::Splits(2)).run()),
        ),
        ("fast product", Box::new(move |x| Gemm::new(x, &w2).precision(Precision::Fast).run())),
        (
            "f16",
            Box::new(move |x| {
                let product = matmul(&x.cast::<f16>()?, &w3.cast::<f16>()?)?;
                ops::activate(&product, Activation::GeluTanh)
            }),
        ),
        ("hadamard", Box::new(move |x| hadamard.right_of(x))),
        ("sparse sketch", Box::new(move |x| sparse.right_of(x))),
        ("dense sketch", Box::new(move |x| dense.right_of(x))),
        ("sketched layer", Box::new(move |x| layer.forward(x))),
        (
            "clifford layer",
            Box::new(move |x| {
                let x = Multivectors::new(x.reshape([8, 8, 8])?, &algebra.blades(), BladeAxis::First)?;
                let product = clifford.steerable(&x, &x, &paths)?;
                let normed = clifford.normalized(&product)?;
                let _ = &scale;
                Ok(normed.tensor().clone())
            }),
        ),
        ("softmax", Box::new(|x| ops::softmax(&ops::concat(&[x, &ops::mul(x, x)?], 1)?, 1))),
    ];
    let has_flexible = gpu.caps().flexible_rows_of(CoopScalar::F16, CoopScalar::F32, CoopScope::Subgroup);
    if gpu.caps().spirv && has_flexible.count() > 0 {
        families.push(modules(gpu));
    }
    families
}

/// A layer on each kernel of modules of SPIR-V, and attention.
fn modules(gpu: &Gpu) -> Family<'static> {
    let weight = random::<f32>(gpu, &[COLS, 32], 9).cast::<f16>().unwrap();
    let back = random::<f32>(gpu, &[32, 32], 10).cast::<f16>().unwrap();
    let bias = random::<f16>(gpu, &[32], 11);
    let layer = move |x: &Tensor<f32>| {
        let x = x.cast::<f16>()?;
        let y = Gemm::new(&x, &weight).out::<f16>().bias(&bias).activation(Activation::Gelu);
        let y = y.kernel(GemmKernel::CoopKhr).run()?;
        let y = Gemm::new(&y, &back)
            .out::<f16>()
            .residual(&y)
            .kernel(GemmKernel::CoopNv2)
            .run()?
            .reshape([1, 1, ROWS, 32])?;
        attention(&y, &y, &y, &AttentionOptions::new().kernel(AttentionKernel::CoopNv2))?.cast::<f32>()
    };
    ("modules of SPIR-V", Box::new(layer))
}

/// A sketch along the columns of a matrix.
pub(super) trait RightOf {
    fn right_of(&self, x: &Tensor<f32>) -> Result<Tensor<f32>>;
}

impl RightOf for Sketch {
    fn right_of(&self, x: &Tensor<f32>) -> Result<Tensor<f32>> {
        self.apply(x, 1)
    }
}

#[test]
fn every_family_has_the_bits_of_eager_work() {
    on_every_device("families", |gpu| {
        for (name, family) in families(gpu) {
            let inputs: Vec<_> = (0..3).map(|seed| random::<f32>(gpu, &[ROWS, COLS], 20 + seed)).collect();
            let want: Vec<_> = inputs.iter().map(|x| bits(&family(x).unwrap())).collect();
            let mut replay = gpu.capture(&[inputs[0].view()], || family(&inputs[0])).unwrap();
            let ends = AtomicBool::new(false);
            std::thread::scope(|scope| {
                for thread in 0..2 {
                    let ends = &ends;
                    scope.spawn(move || disturb(gpu, thread, ends));
                }
                let before = gpu.stats().plans;
                for run in 0..RUNS {
                    let at = usize::try_from(run % 3).unwrap();
                    let got = bits(replay.run(&[inputs[at].view()]).unwrap());
                    assert_eq!(got, want[at], "{gpu:?}: {name}, run {run}");
                }
                ends.store(true, Ordering::Relaxed);
                assert!(gpu.stats().plans <= before + 8, "a run plans nothing");
            });
        }
    });
}

/// Other work on other shapes, of which the pool hands buffers out again and again.
fn disturb(gpu: &Gpu, seed: u64, ends: &AtomicBool) {
    let a = random::<f32>(gpu, &[24, 24], 70 + seed);
    let want = bits(&matmul(&a, &a).unwrap());
    while !ends.load(Ordering::Relaxed) {
        let product = matmul(&a, &a).unwrap();
        let sum = ops::add(&product, &a).unwrap();
        drop(sum);
        assert_eq!(bits(&product), want);
    }
}

#[test]
fn many_runs_in_one_recording_are_in_order() {
    on_every_device("many runs", |gpu| {
        let weight = gpu.tensor(&[1.0f32; 16 * 16], [16, 16]).unwrap();
        let mut state = gpu.tensor(&[1.0f32; 16], [1, 16]).unwrap();
        let step = gpu.tensor(&[0.125f32], [1]).unwrap();
        // A tensor that the closure writes and reads, and that is neither an input nor an output, is the state of a loop.
        let mut replay = gpu
            .capture(&[step.view()], || {
                let next = ops::mul(&matmul(&state, &weight)?, &step)?;
                state.assign(|| ops::add(&next, &next))
            })
            .unwrap();
        let before = gpu.stats();
        for _ in 0..5 {
            replay.run(&[step.view()]).unwrap();
        }
        assert_eq!(gpu.stats().launches - before.launches, 15);
        // Each run multiplies by 16, 1/8 and 2.
        assert_eq!(state.to_vec().unwrap(), [4.0f32.powi(5); 16], "{gpu:?}");
    });
}
