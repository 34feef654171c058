//! Products whose rows of A are windows of an image: convolutions, by every kernel that has a loader of windows.

use support::for_all_types;
use support::values::{assert_ok, values};
use tilewise::conv::{ConvGeometry, ConvOptions, ConvScales, Padding, conv2d_quantised};
use tilewise::gemm::{GemmKernel, SplitK, Tile};
use tilewise::planning::Problem;
use tilewise::planning::conv::{ConvKernels, ConvLayouts, ConvProblem, QuantisedConvProblem};
use tilewise::planning::gemm::{GemmTypes, Pin};
use tilewise::reference::{ConvEpilogueReference, ConvReference};
use tilewise::{Activation, DType, Fill, Gpu, Layout, Real, Tensor, f16};

/// A convolution: images (batch, height, width, channels), outputs, taps, and options.
pub(crate) struct Case {
    pub(crate) images: [usize; 4],
    pub(crate) outputs: usize,
    pub(crate) taps: [usize; 2],
    pub(crate) groups: usize,
    pub(crate) options: ConvOptions,
    /// Whether the weight is stored (outputs, channels, height, width).
    has_channels_first: bool,
}

pub(crate) fn case(images: [usize; 4], outputs: usize, taps: [usize; 2], options: ConvOptions) -> Case {
    Case { images, outputs, taps, groups: 1, options, has_channels_first: false }
}

pub(crate) fn in_groups(groups: usize, case: Case) -> Case {
    Case { groups, options: case.options.groups(groups), ..case }
}

fn channels_first(case: Case) -> Case {
    Case { has_channels_first: true, ..case }
}

/// Channels that are multiples of 8, of 4 and of neither; groups; strides, dilations, uneven paddings; windows of which no element is in an
/// image; fewer windows than a block, and more; weights stored channels first.
pub(crate) fn cases() -> Vec<Case> {
    let padded = |sides| ConvOptions::new().padding(Padding::Explicit(sides));
    let same = padded([[1, 1], [1, 1]]);
    vec![
        case([2, 7, 9, 8], 16, [3, 3], same),
        in_groups(2, case([2, 6, 5, 18], 20, [3, 3], same)),
        case([1, 5, 5, 64], 5, [3, 3], same.dilation([2, 1])),
        channels_first(case([3, 6, 4, 12], 8, [2, 3], padded([[0, 1], [2, 1]]).stride([2, 1]))),
        case([2, 9, 8, 3], 12, [7, 7], padded([[3, 3], [3, 3]]).stride([2, 2])),
        case([1, 11, 3, 5], 7, [3, 2], padded([[4, 3], [0, 3]]).stride([1, 3]).dilation([2, 2])),
        in_groups(2, case([4, 8, 8, 32], 24, [1, 1], ConvOptions::new().stride([3, 2]))),
        case([1, 1, 40, 1], 4, [1, 9], padded([[0, 0], [4, 4]])),
        case([2, 5, 5, 12], 7, [1, 1], ConvOptions::new()),
        case([2, 5, 5, 12], 7, [1, 1], ConvOptions::new()), // a product of pixels as they are stored
        channels_first(in_groups(2, case([1, 6, 5, 18], 20, [2, 3], same))),
    ]
}

/// Every other case has a bias next to the scale and the shift.
fn check<T: Real>(gpu: &Gpu, tile: Tile, split: SplitK, (at, case): (usize, &Case)) {
    let Case { images, outputs, taps, groups, ref options, has_channels_first } = *case;
    let weights = [outputs, taps[0], taps[1], images[3] / groups];
    let [x, weight] = [images, weights].map(|shape| Layout::contiguous("test", &shape).unwrap());
    let geometry = ConvGeometry::new("test", &x, &weight, options).unwrap();
    let results = geometry.output_shape();
    let [x, weight] = [(images, 1), (weights, 2)].map(|(shape, seed)| values::<T>(&shape, 1.0, seed));
    let residual = values::<T>(&results, 1.0, 3);
    let [scale, shift] = [4, 5].map(|seed| values::<f32>(&[outputs], 1.0, seed));
    let bias = (at % 2 == 1).then(|| values::<T>(&[outputs], 1.0, 6));
    let of = |values: &[T], shape: [usize; 4]| gpu.tensor(values, shape).unwrap();
    let (tx, mut tw, tr) = (of(&x, images), of(&weight, weights), of(&residual, results));
    if has_channels_first {
        let first = tw.permute(&[0, 3, 1, 2]).unwrap().contiguous().unwrap();
        tw = first.permute(&[0, 2, 3, 1]).unwrap();
    }
    let [ts, tt] = [&scale, &shift].map(|values| gpu.tensor(values, [outputs]).unwrap());
    let tb = bias.as_ref().map(|bias| gpu.tensor(bias, [outputs]).unwrap());
    let layouts = ConvLayouts {
        x: tx.layout(),
        weight: tw.layout(),
        bias: tb.as_ref().map(|bias| (bias.layout(), T::DTYPE)),
        scale_shift: Some([ts.layout(), tt.layout()]),
        residual: Some(tr.layout()),
    };
    let problem = ConvProblem::new(layouts, options, Activation::Silu, T::DTYPE).unwrap();
    let plan = problem.by(ConvKernels::Product(Pin::Tile(tile), split)).plan(gpu.caps()).unwrap();
    let mut y = gpu.empty::<T>(results).unwrap();
    let others = [ts.view(), tt.view(), tr.view(), y.view_mut().unwrap()];
    let operands = [tx.view(), tw.view()].into_iter().chain(tb.as_ref().map(Tensor::view)).chain(others);
    gpu.execute(&plan, &operands.collect::<Vec<_>>(), &[]).unwrap();
    let real = |values: &[T]| values.iter().map(|value| value.to_f64()).collect::<Vec<_>>();
    let wide = |values: &[f32]| values.iter().map(|&value| value.into()).collect::<Vec<f64>>();
    let epilogue = ConvEpilogueReference {
        bias: bias.as_deref().map(real),
        scale_shift: Some([wide(&scale), wide(&shift)]),
        residual: Some(real(&residual)),
        activation: Activation::Silu,
    };
    let definition = ConvReference { geometry }.forward(&x, &weight, &epilogue);
    let what = format!("{tile}, {split:?}, {} {images:?} x {weights:?}, {options:?}", T::DTYPE);
    assert_ok(&definition.compare(&y.to_vec().unwrap()), what);
}

/// The smallest tile of a kernel that the device runs.
pub(crate) fn tile(gpu: &Gpu, kernel: GemmKernel, dtype: DType) -> Option<Tile> {
    let product = support::wgsl::plain([64; 3], GemmTypes::new(dtype, dtype));
    let fits = kernel.tiles().iter().filter(|tile| tile.fits(&product, gpu.caps()).is_ok());
    fits.min_by_key(|tile| tile.tm * tile.tn).copied()
}

/// These cases, and one of groups in splits, which a second launch adds.
fn check_all<T: Real>(gpu: &Gpu, tile: Tile, taken: &[Case]) {
    taken.iter().enumerate().for_each(|case| check::<T>(gpu, tile, SplitK::Auto, case));
    check::<T>(gpu, tile, SplitK::Splits(3), (1, &cases()[1]));
}

/// With units of eight channels, and without in groups. A software driver compiles a kernel on matrices for many seconds.
fn on_matrices() -> Vec<Case> {
    if support::is_full_sweep() { cases() } else { cases().into_iter().take(2).collect() }
}

/// All cases, in a short sweep every third one from the last one back.
fn scalar<T: Real>(gpu: &Gpu) {
    let tiles = [GemmKernel::Tiled, GemmKernel::Broadcast].map(|kernel| tile(gpu, kernel, T::DTYPE));
    let taken: Vec<Case> = cases().into_iter().rev().step_by(support::by_sweep(1, 1, 3)).collect();
    tiles.iter().flatten().for_each(|tile| check_all::<T>(gpu, *tile, &taken));
}

#[test]
fn scalar_kernels_are_within_the_bound() {
    for_all_types!(scalar);
}

#[test]
fn coop_is_within_the_bound() {
    let Some(gpu) = support::gpu() else { return };
    match tile(&gpu, GemmKernel::Coop, DType::F16) {
        Some(tile) => check_all::<f16>(&gpu, tile, &on_matrices()),
        None => println!("unable: {} has no matrices of f16", gpu.caps().adapter),
    }
}

/// The sums of every kernel of i8 are those of the others, with units of sixteen channels and without.
#[test]
fn kernels_of_i8_have_the_same_sums() {
    let Some(gpu) = support::gpu() else { return };
    for channels in [32, 5] {
        let (x, weight) = ([2, 7, 6, channels], [20, 3, 3, channels]);
        let of = |shape: [usize; 4], seed| gpu.random::<i8>(shape, Fill::Integers, seed).unwrap();
        let (x, weight) = (of(x, 1), of(weight, 2));
        let options = ConvOptions::new().padding(Padding::Explicit([[1, 0], [2, 1]])).stride([2, 1]);
        let geometry = ConvGeometry::new("test", x.layout(), weight.layout(), &options).unwrap();
        let problem = QuantisedConvProblem::new(&geometry, [x.layout(), weight.layout()], DType::I32);
        let product = problem.unwrap().product().unwrap();
        let b = weight.reshape([20, 9 * channels]).unwrap().t();
        let kernels = [GemmKernel::Dot, GemmKernel::CoopKhr].into_iter();
        let tiles = kernels.filter_map(|kernel| {
            let fits = kernel.tiles().iter().filter(|tile| tile.fits(&product, gpu.caps()).is_ok());
            fits.min_by_key(|tile| (tile.tm * tile.tn, tile.bm * tile.bn))
        });
        let sums = tiles.map(|tile| {
            let plan = product.pinned(Pin::Tile(*tile)).plan(gpu.caps()).unwrap();
            let mut y = gpu.empty::<i32>(geometry.output_shape()).unwrap();
            gpu.execute(&plan, &[x.view(), b.view(), y.view_mut().unwrap()], &[]).unwrap();
            y.to_vec().unwrap()
        });
        let sums: Vec<_> = sums.collect();
        let (plain, none) = (ConvScales::default(), Activation::None);
        let want = conv2d_quantised::<i32>(&x, &weight, plain, None, &options, none).unwrap();
        let want = want.to_vec().unwrap();
        assert!(!sums.is_empty() && sums.iter().all(|sums| *sums == want), "{channels} channels");
    }
}

#[test]
fn coop_khr_is_within_the_bound() {
    let Some((gpu, tile)) = support::coop_khr_of_f16() else { return };
    check_all::<f16>(&gpu, tile, &on_matrices());
}
