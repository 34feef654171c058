//! Gradients of convolutions as products with windows, by every kernel that has loaders for them.

use crate::windows::{self, Case, tile};
use support::for_all_types;
use support::values::{assert_ok, values};
use tilewise::conv::{ConvGeometry, ConvOptions, Padding};
use tilewise::gemm::{GemmKernel, SplitK, Tile};
use tilewise::planning::conv::{ConvBackward, ConvGradientOf, ConvKernels};
use tilewise::planning::gemm::Pin;
use tilewise::planning::{Plan, Problem};
use tilewise::reference::ConvReference;
use tilewise::{DType, Error, Gpu, Layout, Real, Tensor, f16};

/// A gradient of a convolution by a tile.
fn check<T: Real>(gpu: &Gpu, (tile, split): (Tile, SplitK), case: &Case, of: ConvGradientOf) {
    let Case { images, outputs, taps, groups, ref options, .. } = *case;
    let weights = [outputs, taps[0], taps[1], images[3] / groups];
    let [x, weight] = [images, weights].map(|shape| Layout::contiguous("test", &shape).unwrap());
    let geometry = ConvGeometry::new("test", &x, &weight, options).unwrap();
    let results = geometry.output_shape();
    let other = if of == ConvGradientOf::Input { weights } else { images };
    let [other, grad] = [(other, 1), (results, 2)]
        .map(|(shape, seed)| (values::<T>(&shape, 1.0, seed), shape))
        .map(|(values, shape)| (gpu.tensor(&values, shape).unwrap(), values));
    let layouts = [other.0.layout(), grad.0.layout()];
    let problem = ConvBackward::new("test", &geometry, of, layouts, T::DTYPE).unwrap();
    let plan = problem.by(ConvKernels::Product(Pin::Tile(tile), split)).plan(gpu.caps());
    let what = format!("{of:?}, {tile}, {split:?}, {} {images:?} x {weights:?}, {options:?}", T::DTYPE);
    let reference = ConvReference { geometry };
    if of == ConvGradientOf::Weight {
        let made = run::<T, f32>(gpu, &plan.unwrap(), [&grad.0, &other.0], weights);
        assert_ok(&reference.weight_gradient(&other.1, &grad.1).compare(&made), what);
        return;
    }
    // Lines of all images are at equal distances, next to the axis of groups, only if the stride divides the height.
    let [height, _] = geometry.axes;
    if groups > 1 && height.input % height.stride != 0 {
        assert!(matches!(plan, Err(Error::Unsupported { .. })), "{what}");
        return;
    }
    let made = run::<T, T>(gpu, &plan.unwrap(), [&grad.0, &other.0], images);
    assert_ok(&reference.input_gradient(&grad.1, &other.1).compare(&made), what);
}

fn run<T: Real, R: Real>(
    gpu: &Gpu,
    plan: &Plan,
    [grad, other]: [&Tensor<T>; 2],
    shape: [usize; 4],
) -> Vec<R> {
    let mut made = gpu.empty::<R>(shape).unwrap();
    gpu.execute(plan, &[grad.view(), other.view(), made.view_mut().unwrap()], &[]).unwrap();
    made.to_vec().unwrap()
}

const BOTH: [ConvGradientOf; 2] = [ConvGradientOf::Weight, ConvGradientOf::Input];

/// Groups with strides, too, of which each line of pixels has matrices.
fn cases() -> Vec<Case> {
    let padded = ConvOptions::new().padding(Padding::Explicit([[1, 1], [1, 1]]));
    let strided = windows::case([2, 8, 5, 16], 24, [3, 3], padded.stride([2, 2]));
    windows::cases().into_iter().chain([windows::in_groups(2, strided)]).collect()
}

/// All cases, in a short sweep every third one up to the last, and one of groups in splits, which a second launch adds.
fn scalar<T: Real>(gpu: &Gpu) {
    let tiles = [GemmKernel::Tiled, GemmKernel::Broadcast].map(|kernel| tile(gpu, kernel, T::DTYPE));
    for tile in tiles.into_iter().flatten() {
        for of in BOTH {
            let taken =
                cases().into_iter().skip(support::by_sweep(0, 0, 2)).step_by(support::by_sweep(1, 1, 3));
            taken.for_each(|case| check::<T>(gpu, (tile, SplitK::Auto), &case, of));
            check::<T>(gpu, (tile, SplitK::Splits(3)), &cases()[1], of);
        }
    }
}

/// One gradient with units of eight channels, the other one of groups with strides; in a full sweep both of all cases. A software driver
/// compiles a kernel on matrices for many seconds.
fn on_matrices(gpu: &Gpu, tile: Tile, of: [ConvGradientOf; 2]) {
    let cases = cases();
    if support::is_full_sweep() {
        let all = cases.iter().flat_map(|case| BOTH.map(|of| (case, of)));
        return all.for_each(|(case, of)| check::<f16>(gpu, (tile, SplitK::Splits(3)), case, of));
    }
    [cases.first(), cases.last()].into_iter().flatten().zip(of).for_each(|(case, of)| {
        check::<f16>(gpu, (tile, SplitK::Auto), case, of);
    });
}

#[test]
fn scalar_kernels_are_within_the_bound() {
    for_all_types!(scalar);
}

#[test]
fn coop_is_within_the_bound() {
    let Some(gpu) = support::gpu() else { return };
    match tile(&gpu, GemmKernel::Coop, DType::F16) {
        Some(tile) => on_matrices(&gpu, tile, BOTH),
        None => println!("unable: {} has no matrices of f16", gpu.caps().adapter),
    }
}

#[test]
fn coop_khr_is_within_the_bound() {
    let Some((gpu, tile)) = support::coop_khr_of_f16() else { return };
    on_matrices(&gpu, tile, [ConvGradientOf::Input, ConvGradientOf::Weight]);
}
