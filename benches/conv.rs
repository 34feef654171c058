//! Convolutions, each timed in turn with what it cannot beat: the product of the same size, a copy of its images, or the same
//! convolution without batch norm and activation. One JSON object per line; the exit status says whether everything ran. `m`,
//! `n` and `k` are the sizes of the product; of a depthwise convolution the pixels, the channels and the taps.
//!
//! - `TILEWISE_SIZES=56` sets height and width of the images.
//! - `TILEWISE_ONLY=3x3,depthwise` selects cases by the beginnings of their names.

use bench::paired::{Paired, Side, TOGETHER};
use bench::turns::Turns;
use bench::{ByDevice, Session, ran, wants};
use std::process::ExitCode;
use tilewise::conv::{ConvGeometry, ConvOptions, Convolution, Padding};
use tilewise::planning::Problem;
use tilewise::planning::conv::{ConvBackward, ConvGradientOf};
use tilewise::{Activation, DType, Fill, Gemm, Real, Result, Tensor, f16};

/// Heights and widths of images.
const SIZES: ByDevice<&[usize]> = ByDevice { software: &[56], gpu: &[56] };
const IMAGES: usize = 4;
/// The number of small images, and their height and width.
const SMALL: [usize; 2] = [16, 7];

/// What is timed, and against what.
#[derive(Clone, Copy)]
enum Case {
    /// Against the product of the same size, of which the rows of A are the windows, stored.
    Product,
    /// Depthwise, against a copy of the images.
    Depthwise,
    /// With batch norm and `SiLU`, against the same without.
    Fused,
    /// The gradient of the weight, against the product of the windows and the gradient of the result.
    WeightGradient,
    /// The same of small images.
    SmallWeightGradient,
}

/// Names, input and output channels, and heights and widths of kernels.
const CASES: [(&str, Case, [usize; 3]); 7] = [
    ("3x3", Case::Product, [64, 64, 3]),
    ("3x3, odd channels", Case::Product, [67, 129, 3]),
    ("1x1", Case::Product, [64, 256, 1]),
    ("depthwise 3x3", Case::Depthwise, [128, 128, 3]),
    ("fused 3x3", Case::Fused, [64, 64, 3]),
    ("weight gradient 3x3", Case::WeightGradient, [64, 64, 3]),
    ("weight gradient 3x3, small images", Case::SmallWeightGradient, [128, 128, 3]),
];

pub(crate) fn main() -> ExitCode {
    bench::main(|session| {
        let mut ok = true;
        for edge in session.sizes(8, &SIZES)? {
            for (name, case, sizes) in CASES.into_iter().filter(|(name, ..)| wants(name)) {
                ok &= ran(name, edge, measure::<f32>(&session, (name, case), edge, sizes));
                ok &= ran(name, edge, measure::<f16>(&session, (name, case), edge, sizes));
            }
        }
        Ok(ok)
    })
}

/// Tensors that take turns.
struct Set<T: Real> {
    x: Tensor<T>,
    weight: Tensor<T>,
    /// Of the result.
    grad: Tensor<T>,
    /// The windows, one a row.
    windows: Tensor<T>,
}

fn measure<T: Real>(
    session: &Session,
    (variant, case): (&str, Case),
    edge: usize,
    [channels, outputs, kernel]: [usize; 3],
) -> Result<()> {
    let gpu = &session.gpu;
    let of_weight = matches!(case, Case::WeightGradient | Case::SmallWeightGradient);
    let [images, edge] = if matches!(case, Case::SmallWeightGradient) { SMALL } else { [IMAGES, edge] };
    let groups = if matches!(case, Case::Depthwise) { channels } else { 1 };
    let same = Padding::Explicit([[kernel / 2; 2]; 2]);
    let options = ConvOptions::new().padding(same).groups(groups);
    let (pixels, terms) = (images * edge * edge, kernel * kernel * channels / groups);
    // Only where a product is the baseline.
    let stored = if of_weight || matches!(case, Case::Product) { terms } else { 1 };
    let bytes = pixels * (channels + stored) * size_of::<T>();
    let sets = Turns::of(gpu, bytes).sets(|| {
        Ok(Set {
            x: gpu.random::<T>([images, edge, edge, channels], Fill::Uniform, 1)?,
            weight: gpu.random::<T>([outputs, kernel, kernel, channels / groups], Fill::Uniform, 2)?,
            grad: gpu.random::<T>([images, edge, edge, outputs], Fill::Uniform, 3)?,
            windows: gpu.random::<T>([pixels, stored], Fill::Uniform, 4)?,
        })
    })?;
    let of_channels = gpu.random::<f32>([outputs], Fill::Uniform, 5)?;
    let matrix = |of: &Tensor<T>, columns: usize| of.reshape([of.len() / columns, columns]).map(|of| of.t());
    let weights = sets.iter().map(|set| matrix(&set.weight, terms)).collect::<Result<Vec<_>>>()?;
    let grads = sets.iter().map(|set| matrix(&set.grad, outputs)).collect::<Result<Vec<_>>>()?;
    let set = |at: usize| &sets[at % sets.len()];
    let plain = |at: usize| Convolution::new(&set(at).x, &set(at).weight).options(options);
    let fused = |at: usize| plain(at).scale_shift(&of_channels, &of_channels).activation(Activation::Silu);
    let by_weight = |at: usize| Gemm::new(&set(at).windows, &weights[at % sets.len()]).out::<T>();
    let by_grad = |at: usize| Gemm::new(&grads[at % sets.len()], &set(at).windows);
    let convolution = || Side::launches(gpu, &plain(0).plan()?, TOGETHER, |at| plain(at).run().map(drop));
    let mut gradient = gpu.empty::<f32>(sets[0].weight.shape())?;
    let (mut size, mut types) = ([pixels, outputs, terms], [T::DTYPE; 2]);
    let (own, other, baseline) = match case {
        Case::Product => {
            let product =
                Side::launches(gpu, &by_weight(0).plan()?, TOGETHER, |at| by_weight(at).run().map(drop))?;
            (convolution()?, product, "the product of its size")
        }
        Case::Depthwise => {
            let copy = Side::copy(gpu, pixels * channels * size_of::<T>());
            (convolution()?, copy, "a copy of the images")
        }
        Case::Fused => {
            let own = Side::launches(gpu, &fused(0).plan()?, TOGETHER, |at| fused(at).run().map(drop))?;
            (own, convolution()?, "the convolution alone")
        }
        Case::WeightGradient | Case::SmallWeightGradient => {
            (size, types) = ([outputs, terms, pixels], [T::DTYPE, DType::F32]);
            let [x, weight, grad] = [&sets[0].x, &sets[0].weight, &sets[0].grad].map(Tensor::layout);
            let geometry = ConvGeometry::new("conv", x, weight, &options)?;
            let of = ConvGradientOf::Weight;
            let plan = ConvBackward::new("conv", &geometry, of, [x, grad], T::DTYPE)?.plan(gpu.caps())?;
            let own = Side::launches(gpu, &plan.clone(), TOGETHER, move |at| {
                gpu.execute(&plan, &[set(at).grad.view(), set(at).x.view(), gradient.view_mut()?], &[])
            })?;
            let product =
                Side::launches(gpu, &by_grad(0).plan()?, TOGETHER, |at| by_grad(at).run().map(drop))?;
            (own, product, "the product of its size")
        }
    };
    Paired { case: "conv", variant, baseline, size, types }.run(session, own, other)
}
