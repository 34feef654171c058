//! A problem of each family, and devices that are slower than the fixtures.

use super::wgsl::{I8, plain};
use tilewise::attention::AttentionKernel;
use tilewise::clifford::layer::{FeatureFunction, LayerProduct};
use tilewise::clifford::{BladeAxis, Product, Signature};
use tilewise::gemm::SplitK;
use tilewise::ops::Overflow;
use tilewise::ops::{RotaryPairs, TexelFormat};
use tilewise::planning::attention::{
    AttentionBackward, AttentionGradientsOf, AttentionLayouts, AttentionProblem, AttentionRange,
    AttentionStatistics,
};
use tilewise::planning::clifford::{CliffordProblem, Function, MvLayout};
use tilewise::planning::clifford_layer::{
    ConnectedBackward, ConnectedForward, ConnectedProblem, FeaturesProblem, OperandRounding, RowFunction,
    RowOperandLayouts, RowProblem,
};
use tilewise::planning::gemm::{
    BiasAxis, Distribution, F16SplitProblem, GemmProblem, GemmTypes, GeneratedOperand, OuterAxis, Pin,
    SeedSource, Side,
};
use tilewise::planning::ops::{
    CastProblem, ChannelLayouts, ChannelPass, ChannelProblem, ColourScale, CopyProblem, CrossEntropyProblem,
    Elementwise, ElementwiseProblem, GatherProblem, ImageProblem, ImageTransfer, Longer, LossFunction,
    LossProblem, NormKind, NormLayouts, NormPass, NormProblem, NormalProblem, OneHotProblem, PadProblem,
    ReduceFunction, ReduceProblem, RotaryPass, RotaryProblem, RotaryTable, ScatterProblem, SoftmaxFunction,
    SoftmaxProblem, Taken, Target, TargetKind,
};
use tilewise::planning::peak::{PeakNumber, PeakProblem};
use tilewise::planning::sketch::{DenseProblem, HadamardProblem, SparseProblem};
use tilewise::planning::{Plan, Problem};
use tilewise::sketch::{Direction, Sketch, SketchKind};
use tilewise::{Activation, Caps, DType, GemmKernel, Layout, Precision, Result};

/// A function that plans a family's problem for a device.
pub type Family = (&'static str, fn(&Caps) -> Result<Plan>);

pub const F32: GemmTypes = GemmTypes::new(DType::F32, DType::F32);

/// A seed that kernels find in a tensor.
const IN_A_TENSOR: SeedSource = SeedSource::Tensor([0, 1]);

/// A problem of every family. Each needs several workgroups.
pub const FAMILIES: [Family; 63] = [
    ("naive", |caps| naive([40, 50, 60]).plan(caps)),
    ("gemv", |caps| pinned(GemmKernel::Gemv, [1200, 2, 64], F32).plan(caps)),
    ("tiled", |caps| pinned(GemmKernel::Tiled, [200, 260, 40], F32).plan(caps)),
    ("tiled, split-k", |caps| {
        pinned(GemmKernel::Tiled, [65, 66, 300], F32).split_k(SplitK::Splits(3)).plan(caps)
    }),
    ("dot", |caps| pinned(GemmKernel::Dot, [200, 260, 64], I8).plan(caps)),
    ("coop", |caps| {
        pinned(GemmKernel::Coop, [300, 400, 64], GemmTypes::new(DType::F16, DType::F32)).plan(caps)
    }),
    ("fast product", |caps| naive([64, 96, 64]).precision(Precision::Fast).plan(caps)),
    ("split product", |caps| naive([64, 96, 64]).precision(Precision::Split).plan(caps)),
    ("product with a generated operand", |caps| {
        let generated = GeneratedOperand {
            side: Side::B,
            entries: Distribution::Sign,
            outer: OuterAxis::Rows,
            tag: 1,
            seed: SeedSource::Scalars,
        };
        pinned(GemmKernel::Tiled, [200, 260, 64], F32).generated(generated).plan(caps)
    }),
    ("f16_split", |caps| F16SplitProblem::new(&flat(&[100, 64])?, Side::A, Precision::Split)?.plan(caps)),
    ("addition", |caps| {
        let x = flat(&[50, 80])?;
        ElementwiseProblem::of_one_type(Elementwise::ADD, &[&x, &x], &x, DType::F32)?.plan(caps)
    }),
    ("sum", |caps| {
        ReduceProblem::new(ReduceFunction::Sum, &flat(&[130, 256])?, &[1], DType::F32)?.plan(caps)
    }),
    ("sum across", |caps| {
        ReduceProblem::new(ReduceFunction::Sum, &flat(&[64, 2048])?, &[0], DType::F32)?.plan(caps)
    }),
    ("softmax", |caps| {
        SoftmaxProblem::new(SoftmaxFunction::Softmax, &flat(&[64, 256])?, None, 1, DType::F32)?.plan(caps)
    }),
    ("squared error and gradient", |caps| {
        let x = flat(&[64, 256])?;
        LossProblem::new(LossFunction::Mse, [&x, &x], None, DType::F32)?.with_gradient(None).plan(caps)
    }),
    ("cross-entropy and gradient", |caps| {
        let targets = (TargetKind::Classes, &flat(&[64])?);
        let problem = CrossEntropyProblem::new(&flat(&[64, 256])?, targets, None, DType::F32)?;
        problem.with_gradient(None).plan(caps)
    }),
    ("layer norm", |caps| normed(NormKind::Layer, NormPass::ForwardWithStatistics, [64, 256], caps)),
    ("RMS norm of long rows", |caps| normed(NormKind::Rms, NormPass::Forward, [130, 8200], caps)),
    ("layer norm, backward", |caps| normed(NormKind::Layer, NormPass::BackwardWithBoth, [640, 256], caps)),
    ("RMS norm of long rows, backward", |caps| {
        normed(NormKind::Rms, NormPass::BackwardWithGamma, [12, 8200], caps)
    }),
    ("group norm", |caps| channels(ChannelPass::Group, [4, 600, 64], 8, caps)),
    ("batch norm of many rows", |caps| channels(ChannelPass::TrainingWithRunning, [1, 40_000, 4], 4, caps)),
    ("group norm, backward", |caps| channels(ChannelPass::BackwardWithGradients, [4, 600, 64], 8, caps)),
    ("cast", |caps| {
        CastProblem::new(&flat(&[64, 256])?, DType::F32, DType::Bf16, Overflow::Saturate)?.plan(caps)
    }),
    ("copy", |caps| CopyProblem::new(&flat(&[64, 256])?, &flat(&[64, 256])?, DType::F32)?.plan(caps)),
    ("copy of parts of words", |caps| {
        CopyProblem::new(&flat(&[65, 255])?, &flat(&[65, 255])?, DType::F16)?.plan(caps)
    }),
    ("copy to a position", |caps| {
        let [a, c, at] = [flat(&[16_385])?, flat(&[16_386])?, flat(&[1])?];
        CopyProblem::at_position(Longer::C, [&a, &c], 0, &at, DType::F32)?.plan(caps)
    }),
    ("copy from a position", |caps| {
        let [a, c, at] = [flat(&[16_575])?, flat(&[16_570])?, flat(&[1])?];
        CopyProblem::at_position(Longer::A, [&a, &c], 0, &at, DType::F16)?.plan(caps)
    }),
    ("rows by index", |caps| {
        GatherProblem::new(Taken::Rows, &flat(&[7, 64])?, &flat(&[300])?, DType::F32)?.plan(caps)
    }),
    ("elements by index", |caps| {
        GatherProblem::new(Taken::Elements(1), &flat(&[65, 7])?, &flat(&[65, 33])?, DType::F16)?.plan(caps)
    }),
    ("added to a table", |caps| {
        let [c, ids, values] = [flat(&[7, 64])?, flat(&[1300])?, flat(&[1300, 64])?];
        ScatterProblem::new(Target::Rows { padding: None }, [&c, &ids, &values], DType::F32)?.plan(caps)
    }),
    ("added to elements", |caps| {
        let [c, indices] = [flat(&[65, 7])?, flat(&[65, 33])?];
        ScatterProblem::new(Target::Elements(1), [&c, &indices, &indices], DType::Bf16)?.plan(caps)
    }),
    ("padded", |caps| PadProblem::new(&flat(&[65, 7])?, &[(1, 2), (0, 3)], DType::F16)?.plan(caps)),
    ("one-hot", |caps| OneHotProblem::new(&flat(&[65, 7])?, 5, DType::F32)?.plan(caps)),
    ("normal", |caps| NormalProblem::new(1003, DType::F32)?.plan(caps)),
    ("image read", |caps| {
        // Rows of 256 bytes: the texels have no gaps.
        let image = flat(&[33, 64, 3])?;
        let (format, scale) = (TexelFormat::Rgba8Unorm, ColourScale::Scaled);
        ImageProblem::new(ImageTransfer::Read, format, &image, DType::F16, scale)?.plan(caps)
    }),
    ("image written", |caps| {
        let image = flat(&[33, 64, 4])?;
        let (format, scale) = (TexelFormat::Rgba16Float, ColourScale::Unscaled);
        ImageProblem::new(ImageTransfer::Write, format, &image, DType::F32, scale)?.plan(caps)
    }),
    ("dense sketch", |caps| {
        let sketch = Sketch::new(SketchKind::Gaussian, [192, 200], 1)?;
        DenseProblem::new(&sketch, Direction::Forward, &flat(&[200, 256])?, 0, DType::F32)?.plan(caps)
    }),
    ("dense sketch, seed in a tensor", |caps| {
        let sketch = Sketch::new(SketchKind::Gaussian, [192, 200], 1)?;
        let problem = DenseProblem::new(&sketch, Direction::Forward, &flat(&[200, 256])?, 0, DType::F32)?;
        problem.seeded(IN_A_TENSOR).plan(caps)
    }),
    ("sparse sketch", |caps| {
        sketched(SketchKind::Sjlt { nonzeros: 4 }, Direction::Forward, SeedSource::Scalars, caps)
    }),
    ("sparse sketch, seed in a tensor", |caps| {
        sketched(SketchKind::Sjlt { nonzeros: 4 }, Direction::Forward, IN_A_TENSOR, caps)
    }),
    ("sparse sketch, adjoint", |caps| {
        sketched(SketchKind::CountSketch, Direction::Adjoint, SeedSource::Scalars, caps)
    }),
    ("sparse sketch, adjoint, seed in a tensor", |caps| {
        sketched(SketchKind::CountSketch, Direction::Adjoint, IN_A_TENSOR, caps)
    }),
    ("hadamard", |caps| {
        let sketch = Sketch::new(SketchKind::Hadamard, [64, 4096], 1)?;
        HadamardProblem::new(&sketch, Direction::Forward, &flat(&[4096, 16])?, 0, DType::F32)?.plan(caps)
    }),
    ("hadamard, seed in a tensor", |caps| {
        let sketch = Sketch::new(SketchKind::Hadamard, [64, 4096], 1)?;
        let problem = HadamardProblem::new(&sketch, Direction::Forward, &flat(&[4096, 16])?, 0, DType::F32)?;
        problem.seeded(IN_A_TENSOR).plan(caps)
    }),
    ("geometric product", |caps| multivectors(Signature::CL3, 2000, caps)),
    ("geometric product by a table", |caps| multivectors(Signature::new(6, 0, 0)?, 600, caps)),
    ("steerable layer", |caps| rows(RowFunction::Steerable, caps)),
    ("steerable layer, backward", |caps| rows(RowFunction::SteerableBackward, caps)),
    ("norm", |caps| rows(RowFunction::Normalize, caps)),
    ("features", |caps| features(None, caps)),
    ("features, backward", |caps| features(Some(()), caps)),
    ("connected layer", |caps| connected()?.plan(caps)),
    ("connected layer, backward", |caps| {
        ConnectedBackward::new(connected()?, &flat(&[4, 96, 64])?)?.plan(caps)
    }),
    ("attention", |caps| attended([2, 4, 100, 120, 16], AttentionStatistics::LogSums, caps)),
    ("attention of one query", |caps| attended([1, 4, 1, 4096, 16], AttentionStatistics::None, caps)),
    ("rotary embeddings", |caps| {
        let of = RotaryTable { pairs: RotaryPairs::Interleaved, rotary_dims: 32, positions: 40 };
        RotaryProblem::new(RotaryPass::Backward, of, &flat(&[6, 40, 80])?, DType::F32)?.plan(caps)
    }),
    ("attention, backward", |caps| attended_backward(AttentionGradientsOf::Operands, caps)),
    ("attention, gradient of a bias", |caps| {
        attended_backward(AttentionGradientsOf::Bias(flat(&[2, 4, 100, 120])?), caps)
    }),
    ("attention on matrices", |caps| on_matrices()?.plan(caps)),
    ("attention on matrices, backward", |caps| {
        let (y, lse) = (flat(&[2, 4, 100, 16])?, flat(&[2, 4, 100, 2])?);
        AttentionBackward::new(on_matrices()?, [&y, &lse, &y], AttentionGradientsOf::Operands)?.plan(caps)
    }),
    ("multiply-adds", |caps| PeakProblem::new(PeakNumber::F32, 1000, 3).plan(caps)),
    ("broadcast", |caps| pinned(GemmKernel::Broadcast, [200, 260, 40], F32).plan(caps)),
];

/// Problems on modules of SPIR-V, where a device has their matrices. Each needs several workgroups.
pub const MODULES: [Family; 5] = [
    ("connected layer by coop_khr", |caps| {
        // Two blocks of the smallest tile in rows; its depth divides the distance of segments.
        let tile = GemmKernel::CoopKhr.tiles().iter().rfind(|tile| tile.bm == 32);
        connected_by(DType::F16, tile.map_or(Pin::Free, |tile| Pin::Tile(*tile)))?.plan(caps)
    }),
    ("layer by coop_khr", |caps| {
        layer(GemmKernel::CoopKhr, GemmTypes::new(DType::I8, DType::F16))?.plan(caps)
    }),
    ("layer by coop_nv2", |caps| {
        layer(GemmKernel::CoopNv2, GemmTypes::new(DType::F16, DType::F16))?.plan(caps)
    }),
    ("attention by coop_nv2", |caps| on_matrices()?.pinned(Some(AttentionKernel::CoopNv2)).plan(caps)),
    ("attention by coop_nv2, backward", |caps| {
        let (y, lse) = (flat(&[2, 4, 100, 16])?, flat(&[2, 4, 100, 2])?);
        let forward = on_matrices()?.pinned(Some(AttentionKernel::CoopNv2));
        AttentionBackward::new(forward, [&y, &lse, &y], AttentionGradientsOf::Operands)?.plan(caps)
    }),
];

/// A product with a bias and an activation, in the kernel's smallest tile.
fn layer(kernel: GemmKernel, types: GemmTypes) -> Result<GemmProblem> {
    let tile = kernel.tiles()[kernel.tiles().len() - 1];
    let product = plain([100, 132, 70], types).pinned(Pin::Tile(tile)).split_k(SplitK::Splits(1));
    Ok(product.bias(BiasAxis::Columns, &flat(&[132])?, types.c)?.activation(Activation::Silu))
}

/// A product without split-k. It pins a tile of the tiled kernel, because the free choice depends on how long tiles take to
/// compile.
fn pinned(kernel: GemmKernel, shape: [usize; 3], types: GemmTypes) -> GemmProblem {
    let pin = match kernel {
        GemmKernel::Tiled => Pin::Tile(kernel.tiles()[4]),
        _ => Pin::Kernel(kernel),
    };
    plain(shape, types).pinned(pin).split_k(SplitK::Splits(1))
}

fn naive(shape: [usize; 3]) -> GemmProblem {
    pinned(GemmKernel::Naive, shape, F32)
}

/// Attention of [batch, heads, queries, keys, dim].
fn attended(
    [batch, heads, queries, keys, dim]: [usize; 5],
    statistics: AttentionStatistics,
    caps: &Caps,
) -> Result<Plan> {
    let (q, k) = (flat(&[batch, heads, queries, dim])?, flat(&[batch, heads, keys, dim])?);
    attention([&q, &k, &k], None, statistics)?.plan(caps)
}

/// The backward pass of attention of (2, 4, 100, 16) and 120 keys.
fn attended_backward(of: AttentionGradientsOf, caps: &Caps) -> Result<Plan> {
    let (q, k, lse) = (flat(&[2, 4, 100, 16])?, flat(&[2, 4, 120, 16])?, flat(&[2, 4, 100, 2])?);
    let bias = match &of {
        AttentionGradientsOf::Bias(bias) | AttentionGradientsOf::PartOfBias(bias) => Some(bias),
        AttentionGradientsOf::Operands => None,
    };
    let forward = attention([&q, &k, &k], bias, AttentionStatistics::None)?;
    AttentionBackward::new(forward, [&q, &lse, &q], of)?.plan(caps)
}

/// Attention of f16 of (2, 4, 100, 16) and as many keys.
fn on_matrices() -> Result<AttentionProblem> {
    let x = flat(&[2, 4, 100, 16])?;
    let layouts =
        AttentionLayouts { q: &x, k: &x, v: &x, bias: None, lengths: None, keep: None, slopes: None };
    let (range, statistics) = (AttentionRange::default(), AttentionStatistics::None);
    Ok(AttentionProblem::new(layouts, range, statistics, DType::F16)?.pinned(Some(AttentionKernel::Coop)))
}

fn attention(
    [q, k, v]: [&Layout; 3],
    bias: Option<&Layout>,
    statistics: AttentionStatistics,
) -> Result<AttentionProblem> {
    let layouts = AttentionLayouts { q, k, v, bias, lengths: None, keep: None, slopes: None };
    AttentionProblem::new(layouts, AttentionRange::default(), statistics, DType::F32)
}

/// A norm with gamma, and beta if it is a layer norm.
fn normed(kind: NormKind, pass: NormPass, shape: [usize; 2], caps: &Caps) -> Result<Plan> {
    let (a, weights) = (flat(&shape)?, flat(&shape[1..])?);
    let beta = (kind == NormKind::Layer).then_some(&weights);
    let is_forward = matches!(pass, NormPass::Forward | NormPass::ForwardWithStatistics);
    let layouts = NormLayouts { a: &a, b: (!is_forward).then_some(&a), gamma: Some(&weights), beta };
    NormProblem::new(kind, pass, layouts, DType::F32)?.plan(caps)
}

/// A norm of channels with gamma, and beta forwards.
fn channels(pass: ChannelPass, shape: [usize; 3], groups: usize, caps: &Caps) -> Result<Plan> {
    let (a, weights) = (flat(&shape)?, flat(&shape[2..])?);
    let layouts = ChannelLayouts { a: &a, b: Some(&a), gamma: Some(&weights), beta: Some(&weights) };
    ChannelProblem::new("norm of channels", pass, layouts, groups, DType::F32)?.plan(caps)
}

fn flat(shape: &[usize]) -> Result<Layout> {
    Layout::contiguous("test", shape)
}

fn sketched(kind: SketchKind, direction: Direction, seed: SeedSource, caps: &Caps) -> Result<Plan> {
    let sketch = Sketch::new(kind, [600, 2000], 1)?;
    let rows = if direction == Direction::Forward { 2000 } else { 600 };
    SparseProblem::new(&sketch, direction, &flat(&[rows, 64])?, 0, DType::F32)?.seeded(seed).plan(caps)
}

fn multivectors(signature: Signature, positions: usize, caps: &Caps) -> Result<Plan> {
    let blades = signature.blades();
    let x = flat(&[blades.len(), positions])?;
    let placed = MvLayout { layout: &x, blades: &blades };
    let function = Function::Product(Product::Geometric);
    CliffordProblem::new(function, &[placed, placed], placed, BladeAxis::First, DType::F32)?.plan(caps)
}

fn rows(function: RowFunction, caps: &Caps) -> Result<Plan> {
    let product = LayerProduct::new(Signature::CL3);
    let (blades, features) = (product.blades(), 16);
    let x = flat(&[blades.len(), 300, features])?;
    let w = flat(&[features, Signature::CL3.paths().len()])?;
    let layouts = RowOperandLayouts { x: &x, y: Some(&x), g: Some(&x), w: Some(&w) };
    RowProblem::new(function, product, &blades, layouts, DType::F32)?.plan(caps)
}

fn features(g: Option<()>, caps: &Caps) -> Result<Plan> {
    let (blades, features) = (Signature::CL3.blades(), 32);
    let x = flat(&[8, 100, features])?;
    let function = FeatureFunction::ALL[0];
    let parameter = flat(&[features, function.parts(&blades)])?;
    let parameters = vec![&parameter; function.parameters()];
    FeaturesProblem::new(function, &blades, &x, g.map(|()| &x), &parameters, DType::F32)?.plan(caps)
}

fn connected() -> Result<ConnectedForward> {
    connected_by(DType::F32, Pin::Free)
}

fn connected_by(dtype: DType, pin: Pin) -> Result<ConnectedForward> {
    let product = LayerProduct::new(Signature::CL2);
    let (blades, features) = (product.blades(), 64);
    let x = flat(&[blades.len(), 96, features])?;
    let weight = flat(&[Signature::CL2.paths().len(), features, features])?;
    let product = ConnectedProblem::new(product, &blades, [&x, &x], &weight, dtype)?;
    ConnectedForward::new(product, OperandRounding::None, pin)
}

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
