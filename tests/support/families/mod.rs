//! A problem of every family, as small as a device executes it in tests, or as large as it may be; and devices that are slower
//! than the fixtures.

mod conv;
mod more;
mod shapes;

pub use super::operations::shapes::PROBLEMS;
use super::wgsl::I8;
pub use conv::CONVOLUTIONS;
pub use more::MORE;
pub use shapes::Of;
use shapes::{
    attended, attended_backward, channels, connected, connected_by, features, flat, hadamard, layer,
    multivectors, naive, normed, of_rows, on_matrices, pinned, sketched,
};
use tilewise::attention::AttentionKernel;
use tilewise::clifford::Signature;
use tilewise::clifford::layer::FeatureFunction;
use tilewise::gemm::{GemmKernel, SplitK};
use tilewise::ops::{Overflow, RotaryPairs, TexelFormat};
use tilewise::planning::attention::{AttentionBackward, AttentionGradientsOf, AttentionStatistics};
use tilewise::planning::clifford_layer::{ConnectedBackward, RowFunction};
use tilewise::planning::gemm::{
    Distribution, F16SplitProblem, GemmTypes, GeneratedOperand, OuterAxis, Pin, SeedSource, Side,
};
use tilewise::planning::ops::{
    CastProblem, ChannelPass, ColourScale, CopyProblem, CrossEntropyProblem, Elementwise, ElementwiseProblem,
    GatherProblem, ImageProblem, ImageTransfer, Longer, LossFunction, LossProblem, NormKind, NormPass,
    NormalProblem, OneHotProblem, PadProblem, ReduceFunction, ReduceProblem, RotaryPass, RotaryProblem,
    RotaryTable, ScatterProblem, SoftmaxFunction, SoftmaxProblem, Taken, Target, TargetKind,
};
use tilewise::planning::peak::{PeakNumber, PeakProblem};
use tilewise::planning::sketch::DenseProblem;
use tilewise::planning::{Plan, Problem, fixtures};
use tilewise::sketch::{Direction, Sketch, SketchKind};
use tilewise::{Caps, DType, Precision, Result};

/// A family, and a function that plans a problem of it.
pub type Family = (&'static str, fn(&Of<'_>) -> Result<Plan>);

pub const F32: GemmTypes = GemmTypes::new(DType::F32, DType::F32);

/// A seed that kernels find in a tensor.
const IN_A_TENSOR: SeedSource = SeedSource::Tensor([0, 1]);

/// The families whose problems grow, those that are only planned too.
pub fn growing() -> Vec<Family> {
    let caps = fixtures::h200();
    let grows = |(_, plan): &Family| plan(&Of::small(&caps)).ok() != plan(&Of::large(1 << 22, &caps)).ok();
    FAMILIES.into_iter().chain(CONVOLUTIONS).chain(PROBLEMS).chain(MORE).filter(grows).collect()
}

/// A problem of every family. Each needs several workgroups.
pub const FAMILIES: [Family; 63] = [
    ("naive", |of| naive([40, 50, 60]).plan(of.caps)),
    ("gemv", |of| pinned(GemmKernel::Gemv, [1200, 2, 64], F32).plan(of.caps)),
    ("tiled", |of| pinned(GemmKernel::Tiled, [200, 260, 40], F32).plan(of.caps)),
    ("tiled, split-k", |of| {
        pinned(GemmKernel::Tiled, [65, 66, 300], F32).split_k(SplitK::Splits(3)).plan(of.caps)
    }),
    ("dot", |of| pinned(GemmKernel::Dot, [200, 260, 64], I8).plan(of.caps)),
    ("coop", |of| {
        pinned(GemmKernel::Coop, [300, 400, 64], GemmTypes::new(DType::F16, DType::F32)).plan(of.caps)
    }),
    ("fast product", |of| naive([64, 96, 64]).precision(Precision::Fast).plan(of.caps)),
    ("split product", |of| naive([64, 96, 64]).precision(Precision::Split).plan(of.caps)),
    ("product with a generated operand", |of| {
        let generated = GeneratedOperand {
            side: Side::B,
            entries: Distribution::Sign,
            outer: OuterAxis::Rows,
            tag: 1,
            seed: SeedSource::Scalars,
        };
        pinned(GemmKernel::Tiled, [200, 260, 64], F32).generated(generated).plan(of.caps)
    }),
    ("f16_split", |of| {
        F16SplitProblem::new(&flat(&[of.many(100, 64), 64])?, Side::A, Precision::Split)?.plan(of.caps)
    }),
    ("addition", |of| {
        let [x, c] = [of.rows(50, &[80])?, flat(&[of.many(50, 80), 80])?];
        ElementwiseProblem::of_one_type(Elementwise::ADD, &[&x, &x], &c, DType::F32)?.plan(of.caps)
    }),
    ("sum", |of| {
        ReduceProblem::new(ReduceFunction::Sum, &of.rows(130, &[256])?, &[1], DType::F32)?.plan(of.caps)
    }),
    ("sum across", |of| {
        ReduceProblem::new(ReduceFunction::Sum, &of.rows(64, &[2048])?, &[0], DType::F32)?.plan(of.caps)
    }),
    ("softmax", |of| {
        SoftmaxProblem::new(SoftmaxFunction::Softmax, &of.rows(64, &[256])?, None, 1, DType::F32)?
            .plan(of.caps)
    }),
    ("squared error and gradient", |of| {
        let x = of.rows(64, &[256])?;
        LossProblem::new(LossFunction::Mse, [&x, &x], None, DType::F32)?.with_gradient(None).plan(of.caps)
    }),
    ("cross-entropy and gradient", |of| {
        let rows = of.many(64, 256);
        let targets = (TargetKind::Classes, &flat(&[rows])?);
        let problem = CrossEntropyProblem::new(&of.view(&[rows, 256])?, targets, None, DType::F32)?;
        problem.with_gradient(None).plan(of.caps)
    }),
    ("layer norm", |of| normed(NormKind::Layer, NormPass::ForwardWithStatistics, [64, 256], of)),
    ("RMS norm of long rows", |of| normed(NormKind::Rms, NormPass::Forward, [130, 8200], of)),
    ("layer norm, backward", |of| normed(NormKind::Layer, NormPass::BackwardWithBoth, [640, 256], of)),
    ("RMS norm of long rows, backward", |of| {
        normed(NormKind::Rms, NormPass::BackwardWithGamma, [12, 8200], of)
    }),
    ("group norm", |of| channels(ChannelPass::Group, [4, 600, 64], 8, of)),
    ("batch norm of many rows", |of| channels(ChannelPass::TrainingWithRunning, [1, 40_000, 4], 4, of)),
    ("group norm, backward", |of| channels(ChannelPass::BackwardWithGradients, [4, 600, 64], 8, of)),
    ("cast", |of| {
        CastProblem::new(&of.rows(64, &[256])?, DType::F32, DType::Bf16, Overflow::Saturate)?.plan(of.caps)
    }),
    ("copy", |of| of.copy([64, 256], DType::F32)),
    ("copy of parts of words", |of| of.copy([65, 255], DType::F16)),
    ("copy to a position", |of| {
        let n = of.many(16_385, 1);
        let [a, c, at] = [of.view(&[n])?, of.view(&[n + 1])?, flat(&[1])?];
        CopyProblem::at_position(Longer::C, [&a, &c], 0, &at, DType::F32)?.plan(of.caps)
    }),
    ("copy from a position", |of| {
        let n = of.many(16_570, 1);
        let [a, c, at] = [of.view(&[n + 5])?, of.view(&[n])?, flat(&[1])?];
        CopyProblem::at_position(Longer::A, [&a, &c], 0, &at, DType::F16)?.plan(of.caps)
    }),
    ("rows by index", |of| {
        GatherProblem::new(Taken::Rows, &of.view(&[7, 64])?, &of.view(&[of.many(300, 64)])?, DType::F32)?
            .plan(of.caps)
    }),
    ("elements by index", |of| {
        let rows = of.many(65, 33);
        let [x, indices] = [of.view(&[rows, 7])?, of.view(&[rows, 33])?];
        GatherProblem::new(Taken::Elements(1), &x, &indices, DType::F16)?.plan(of.caps)
    }),
    ("added to a table", |of| {
        let many = of.many(1300, 64);
        let [c, ids, values] = [flat(&[7, 64])?, of.view(&[many])?, of.view(&[many, 64])?];
        ScatterProblem::new(Target::Rows { padding: None }, [&c, &ids, &values], DType::F32)?.plan(of.caps)
    }),
    ("added to elements", |of| {
        let rows = of.many(65, 33);
        let [c, indices] = [of.view(&[rows, 7])?, of.view(&[rows, 33])?];
        ScatterProblem::new(Target::Elements(1), [&c, &indices, &indices], DType::Bf16)?.plan(of.caps)
    }),
    ("padded", |of| PadProblem::new(&of.rows(65, &[7])?, &[(1, 2), (0, 3)], DType::F16)?.plan(of.caps)),
    ("one-hot", |of| OneHotProblem::new(&of.rows(65, &[7])?, 5, DType::F32)?.plan(of.caps)),
    ("normal", |of| NormalProblem::new(of.many(1003, 1), DType::F32)?.plan(of.caps)),
    ("image read", |of| {
        // Rows of 256 bytes: the texels have no gaps.
        let image = of.rows(33, &[64, 3])?;
        let (format, scale) = (TexelFormat::Rgba8Unorm, ColourScale::Scaled);
        ImageProblem::new(ImageTransfer::Read, format, &image, DType::F16, scale)?.plan(of.caps)
    }),
    ("image written", |of| {
        let image = of.rows(33, &[64, 4])?;
        let (format, scale) = (TexelFormat::Rgba16Float, ColourScale::Unscaled);
        ImageProblem::new(ImageTransfer::Write, format, &image, DType::F32, scale)?.plan(of.caps)
    }),
    ("dense sketch", |of| {
        let sketch = Sketch::new(SketchKind::Gaussian, [192, 200], 1)?;
        DenseProblem::new(&sketch, Direction::Forward, &of.view(&[200, of.many(256, 200)])?, 0, DType::F32)?
            .plan(of.caps)
    }),
    ("dense sketch, seed in a tensor", |of| {
        let sketch = Sketch::new(SketchKind::Gaussian, [192, 200], 1)?;
        let problem = DenseProblem::new(
            &sketch,
            Direction::Forward,
            &of.view(&[200, of.many(256, 200)])?,
            0,
            DType::F32,
        )?;
        problem.seeded(IN_A_TENSOR).plan(of.caps)
    }),
    ("sparse sketch", |of| {
        sketched(SketchKind::Sjlt { nonzeros: 4 }, Direction::Forward, SeedSource::Scalars, of)
    }),
    ("sparse sketch, seed in a tensor", |of| {
        sketched(SketchKind::Sjlt { nonzeros: 4 }, Direction::Forward, IN_A_TENSOR, of)
    }),
    ("sparse sketch, adjoint", |of| {
        sketched(SketchKind::CountSketch, Direction::Adjoint, SeedSource::Scalars, of)
    }),
    ("sparse sketch, adjoint, seed in a tensor", |of| {
        sketched(SketchKind::CountSketch, Direction::Adjoint, IN_A_TENSOR, of)
    }),
    ("hadamard", |of| hadamard(Direction::Forward, of)?.plan(of.caps)),
    ("hadamard, seed in a tensor", |of| hadamard(Direction::Forward, of)?.seeded(IN_A_TENSOR).plan(of.caps)),
    ("geometric product", |of| multivectors(Signature::CL3, 2000, of)),
    ("geometric product by a table", |of| multivectors(Signature::new(6, 0, 0)?, 600, of)),
    ("steerable layer", |of| of_rows(RowFunction::Steerable, of)),
    ("steerable layer, backward", |of| of_rows(RowFunction::SteerableBackward, of)),
    ("norm", |of| of_rows(RowFunction::Normalize, of)),
    ("features", |of| features(FeatureFunction::ALL[0], false, of)),
    ("features, backward", |of| features(FeatureFunction::ALL[0], true, of)),
    ("connected layer", |of| connected(of)?.plan(of.caps)),
    ("connected layer, backward", |of| {
        ConnectedBackward::new(connected(of)?, &of.view(&[4, of.many(96, 256), 64])?)?.plan(of.caps)
    }),
    ("attention", |of| attended([2, 4, 100, 120, 16], AttentionStatistics::LogSums, of)),
    ("attention of one query", |of| attended([1, 4, 1, 4096, 16], AttentionStatistics::None, of)),
    ("rotary embeddings", |of| {
        let table = RotaryTable { pairs: RotaryPairs::Interleaved, rotary_dims: 32, positions: 40 };
        RotaryProblem::new(RotaryPass::Backward, table, &of.rows(6, &[40, 80])?, DType::F32)?.plan(of.caps)
    }),
    ("attention, backward", |of| attended_backward(AttentionGradientsOf::Operands, of)),
    ("attention, gradient of a bias", |of| {
        attended_backward(AttentionGradientsOf::Bias(flat(&[of.many(2, 48_000), 4, 100, 120])?), of)
    }),
    ("attention on matrices", |of| on_matrices()?.plan(of.caps)),
    ("attention on matrices, backward", |of| {
        let (y, lse) = (flat(&[2, 4, 100, 16])?, flat(&[2, 4, 100, 2])?);
        AttentionBackward::new(on_matrices()?, [&y, &lse, &y], AttentionGradientsOf::Operands)?.plan(of.caps)
    }),
    ("multiply-adds", |of| PeakProblem::new(PeakNumber::F32, 1000, 3).plan(of.caps)),
    ("broadcast", |of| pinned(GemmKernel::Broadcast, [200, 260, 40], F32).plan(of.caps)),
];

/// Problems on modules of SPIR-V, where a device has their matrices. Each needs several workgroups.
pub const MODULES: [Family; 5] = [
    ("connected layer by coop_khr", |of| {
        // Two blocks of the smallest tile in rows; its depth divides the distance of segments.
        let tile = GemmKernel::CoopKhr.tiles().iter().rfind(|tile| tile.bm == 32);
        connected_by(DType::F16, 64, of, tile.map_or(Pin::Free, |tile| Pin::Tile(*tile)))?.plan(of.caps)
    }),
    ("layer by coop_khr", |of| {
        layer(GemmKernel::CoopKhr, GemmTypes::new(DType::I8, DType::F16))?.plan(of.caps)
    }),
    ("layer by coop_nv2", |of| {
        layer(GemmKernel::CoopNv2, GemmTypes::new(DType::F16, DType::F16))?.plan(of.caps)
    }),
    ("attention by coop_nv2", |of| on_matrices()?.pinned(Some(AttentionKernel::CoopNv2)).plan(of.caps)),
    ("attention by coop_nv2, backward", |of| {
        let (y, lse) = (flat(&[2, 4, 100, 16])?, flat(&[2, 4, 100, 2])?);
        let forward = on_matrices()?.pinned(Some(AttentionKernel::CoopNv2));
        AttentionBackward::new(forward, [&y, &lse, &y], AttentionGradientsOf::Operands)?.plan(of.caps)
    }),
];

/// The same device, slower by this factor in every respect.
pub fn slowed(caps: &Caps, times: f64) -> Caps {
    let mut slow = caps.clone();
    let machine = &mut slow.machine;
    for rate in [
        &mut machine.f32_flops,
        &mut machine.f16_flops,
        &mut machine.i8_flops,
        &mut machine.i8_matrix_flops,
        &mut machine.fp8_matrix_flops,
        &mut machine.f16_matrix_flops,
        &mut machine.matrix_flops,
        &mut machine.memory_bandwidth,
        &mut machine.cache_bandwidth,
        &mut machine.shared_bandwidth,
    ] {
        *rate /= times;
    }
    for seconds in [
        &mut machine.launch_seconds,
        &mut machine.load_seconds,
        &mut machine.barrier_seconds,
        &mut machine.invocation_seconds,
    ] {
        *seconds *= times;
    }
    slow
}
