//! Convolutions of volumes and their gradients as products with windows, by every kernel that has loaders for them.

use crate::windows::tile;
use support::for_all_types;
use support::values::{assert_ok, values};
use tilewise::conv::{ConvGeometry, ConvOptions, Padding};
use tilewise::gemm::{GemmKernel, SplitK, Tile};
use tilewise::planning::conv::{ConvBackward, ConvGradientOf, ConvKernels, ConvLayouts, ConvProblem};
use tilewise::planning::gemm::Pin;
use tilewise::planning::{Plan, Problem};
use tilewise::reference::{ConvEpilogueReference, ConvReference};
use tilewise::{Activation, DType, Gpu, Layout, Real, Tensor, f16};

/// Volumes (batch, depth, height, width, channels), outputs, taps, groups and options.
type Case = ([usize; 5], usize, [usize; 3], usize, ConvOptions<3>);

/// Channels that are multiples of 8, of 4 and of neither; groups; strides, dilations, uneven paddings; windows of which no element is in
/// a volume; kernels of planes alone.
fn cases() -> [Case; 6] {
    let padded = |sides| ConvOptions::new().padding(Padding::Explicit(sides));
    [
        ([2, 4, 5, 6, 8], 16, [3, 3, 3], 1, padded([[1, 1]; 3])),
        ([2, 4, 3, 5, 18], 20, [2, 3, 3], 2, padded([[1, 0], [1, 1], [1, 1]])),
        ([1, 7, 5, 4, 12], 8, [3, 2, 3], 1, padded([[2, 1], [0, 1], [2, 1]]).stride([2, 1, 2])),
        ([2, 6, 7, 5, 5], 7, [2, 3, 2], 1, padded([[0, 3], [4, 0], [1, 1]]).dilation([3, 2, 1])),
        ([3, 9, 1, 2, 4], 5, [4, 1, 1], 1, padded([[3, 0], [0, 0], [0, 0]])),
        ([1, 3, 4, 4, 3], 6, [2, 2, 2], 1, padded([[4, 4]; 3]).stride([3, 1, 2])),
    ]
}

/// A convolution and both gradients by a tile.
fn check<T: Real>(gpu: &Gpu, tile: Tile, split: SplitK, (images, outputs, taps, groups, options): Case) {
    let options = options.groups(groups);
    let weights = [outputs, taps[0], taps[1], taps[2], images[4] / groups];
    let [x, weight] = [images, weights].map(|shape| Layout::contiguous("test", &shape).unwrap());
    let geometry = ConvGeometry::new("test", &x, &weight, &options).unwrap();
    let reference = ConvReference { geometry };
    let results = geometry.output_shape();
    let [x, weight, grad] =
        [(images, 1), (weights, 2), (results, 3)].map(|(shape, seed)| values::<T>(&shape, 1.0, seed));
    let of = |values: &[T], shape: [usize; 5]| gpu.tensor(values, shape).unwrap();
    let (tx, tw, tg) = (of(&x, images), of(&weight, weights), of(&grad, results));
    let what = format!("{tile}, {split:?}, {} {images:?} x {weights:?}, {options:?}", T::DTYPE);
    let kernels = ConvKernels::Product(Pin::Tile(tile), split);

    let layouts = ConvLayouts {
        x: tx.layout(),
        weight: tw.layout(),
        bias: None,
        scale_shift: None,
        residual: Some(tg.layout()),
    };
    let problem = ConvProblem::new(layouts, &options, Activation::Silu, T::DTYPE).unwrap();
    let plan = problem.by(kernels).plan(gpu.caps()).unwrap();
    let made: Vec<T> = run(gpu, &plan, &[&tx, &tw, &tg], results);
    let residual = Some(grad.iter().map(|value| value.to_f64()).collect());
    let epilogue =
        ConvEpilogueReference { residual, activation: Activation::Silu, ..ConvEpilogueReference::default() };
    assert_ok(&reference.forward(&x, &weight, &epilogue).compare(&made), &what);
    let gradient = |of, other: &Tensor<T>| {
        let layouts = [other.layout(), tg.layout()];
        let problem = ConvBackward::new("test", &geometry, of, layouts, T::DTYPE).unwrap();
        problem.by(kernels).plan(gpu.caps()).unwrap()
    };
    let made: Vec<T> = run(gpu, &gradient(ConvGradientOf::Input, &tw), &[&tg, &tw], images);
    assert_ok(&reference.input_gradient(&grad, &weight).compare(&made), format!("images: {what}"));
    let made: Vec<f32> = run(gpu, &gradient(ConvGradientOf::Weight, &tx), &[&tg, &tx], weights);
    assert_ok(&reference.weight_gradient(&x, &grad).compare(&made), format!("weight: {what}"));
}

fn run<T: Real, R: Real>(gpu: &Gpu, plan: &Plan, operands: &[&Tensor<T>], shape: [usize; 5]) -> Vec<R> {
    let mut made = gpu.empty::<R>(shape).unwrap();
    let views = operands.iter().map(|of| of.view()).chain([made.view_mut().unwrap()]);
    gpu.execute(plan, &views.collect::<Vec<_>>(), &[]).unwrap();
    made.to_vec().unwrap()
}

/// All cases, and one in splits, which a second launch adds.
fn scalar<T: Real>(gpu: &Gpu) {
    let tiles = [GemmKernel::Tiled, GemmKernel::Broadcast].map(|kernel| tile(gpu, kernel, T::DTYPE));
    for tile in tiles.into_iter().flatten() {
        let few = cases().into_iter().step_by(support::by_sweep(1, 1, 3));
        few.for_each(|case| check::<T>(gpu, tile, SplitK::Auto, case));
        check::<T>(gpu, tile, SplitK::Splits(3), cases()[3]);
    }
}

/// With units of eight channels, and without. A software driver compiles a kernel on matrices for many seconds.
fn on_matrices(gpu: &Gpu, tile: Tile) {
    let [units, _, elements, ..] = cases();
    let cases = if support::is_full_sweep() { cases().to_vec() } else { vec![units, elements] };
    cases.into_iter().for_each(|case| check::<f16>(gpu, tile, SplitK::Auto, case));
}

#[test]
fn scalar_kernels_are_within_the_bound() {
    for_all_types!(scalar);
}

#[test]
fn coop_is_within_the_bound() {
    let Some(gpu) = support::gpu() else { return };
    match tile(&gpu, GemmKernel::Coop, DType::F16) {
        Some(tile) => on_matrices(&gpu, tile),
        None => println!("unable: {} has no matrices of f16", gpu.caps().adapter),
    }
}

#[test]
fn coop_khr_is_within_the_bound() {
    let Some((gpu, tile)) = support::coop_khr_of_f16() else { return };
    on_matrices(&gpu, tile);
}
