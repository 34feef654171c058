//! Convolutions of volumes and their gradients against their definitions: kernels, strides, dilations, paddings, groups, layouts, types
//! and epilogues.

use support::forms::{self, Forms};
use support::strided::{Lay, Placed};
use support::turn::Turn;
use support::values::{assert_ok, for_all_types_and_a_gpu, values};
use tilewise::conv::{
    ConvGeometry, ConvOptions, Convolution, Padding, SamePadding, conv2d, conv3d, conv3d_backward,
};
use tilewise::reference::{ConvEpilogueReference, ConvReference};
use tilewise::{Activation, Element, Gpu, Layout, Real, Tensor};

/// Volumes; outputs, and depth, height and width of the kernel; stride, dilation, padding and groups.
type Case = ([usize; 5], [usize; 4], [usize; 3], [usize; 3], Padding<3>, usize);

const fn all(of: usize) -> Padding<3> {
    Padding::Explicit([[of; 2]; 3])
}
const END: Padding<3> = Padding::Same(SamePadding::ExtraAtEnd);
const ONE: [usize; 3] = [1; 3];

const CASES: [Case; 24] = [
    ([2, 5, 6, 7, 8], [16, 3, 3, 3], ONE, ONE, all(1), 1),
    ([1, 4, 5, 6, 13], [17, 3, 3, 3], ONE, ONE, all(1), 1),
    ([2, 6, 9, 8, 3], [16, 3, 5, 3], [1, 2, 2], ONE, all(1), 1),
    ([2, 3, 4, 5, 24], [20, 1, 1, 1], ONE, ONE, Padding::Valid, 1),
    ([2, 6, 4, 6, 4], [12, 2, 2, 2], [2, 2, 2], ONE, Padding::Valid, 1), // patches
    ([2, 7, 5, 6, 4], [8, 3, 2, 3], [2, 1, 2], ONE, all(1), 1), // strides that do not divide the volume
    ([1, 9, 8, 7, 6], [10, 3, 2, 2], ONE, [2, 3, 1], all(2), 1),
    ([1, 8, 5, 5, 8], [8, 4, 2, 4], ONE, ONE, END, 1),
    ([2, 1, 6, 5, 8], [8, 1, 3, 3], ONE, ONE, Padding::Explicit([[0, 0], [1, 1], [1, 1]]), 1), // images
    ([2, 1, 4, 5, 4], [8, 3, 3, 3], ONE, ONE, all(1), 1), // planes of zeros around one
    ([3, 6, 1, 1, 8], [8, 3, 1, 1], ONE, ONE, Padding::Explicit([[2, 0], [0, 0], [0, 0]]), 1), // causal, in time alone
    ([2, 8, 3, 3, 5], [6, 3, 1, 1], [3, 1, 1], [2, 1, 1], Padding::Valid, 1),
    ([1, 9, 4, 6, 4], [5, 1, 2, 1], [3, 2, 5], ONE, Padding::Valid, 1), // planes and columns that are not read
    ([1, 3, 4, 3, 4], [4, 2, 2, 2], ONE, ONE, all(4), 1),               // windows of zeros alone
    ([1, 3, 3, 5, 8], [8, 3, 3, 3], [2; 3], ONE, Padding::Valid, 8), // a product of the gradient for each plane
    ([1, 2, 3, 3, 4], [4, 2, 3, 2], ONE, ONE, Padding::Explicit([[0, 2], [1, 0], [0, 3]]), 1),
    // Groups.
    ([2, 4, 5, 4, 16], [24, 3, 3, 3], ONE, ONE, all(1), 2),
    ([1, 4, 5, 6, 6], [8, 2, 3, 3], [2, 1, 1], ONE, all(1), 2),
    ([1, 5, 4, 6, 5], [5, 3, 3, 3], ONE, ONE, all(1), 5),
    ([1, 4, 6, 5, 8], [16, 3, 3, 1], [1, 2, 1], [1, 1, 2], END, 8),
    ([2, 3, 3, 4, 12], [4, 1, 1, 1], ONE, ONE, Padding::Valid, 4),
    // Pixels that are not read, of groups: a product for each plane, or for each group; and nothing but the padding is read.
    ([2, 5, 4, 6, 8], [8, 2, 1, 2], [2, 3, 2], ONE, END, 8),
    ([2, 5, 4, 7, 6], [4, 1, 1, 1], [2, 3, 2], ONE, Padding::Valid, 2),
    ([1, 1, 1, 1, 4], [4, 1, 1, 1], [2, 1, 1], ONE, Padding::Explicit([[1, 0], [0, 0], [0, 0]]), 1),
];

fn options((_, _, stride, dilation, padding, groups): Case) -> ConvOptions<3> {
    ConvOptions::new().stride(stride).dilation(dilation).padding(padding).groups(groups)
}

fn geometry(case: Case) -> ConvGeometry<3> {
    let (x, [outputs, depth, height, width], .., groups) = case;
    let weight = [outputs, depth, height, width, x[4] / groups];
    let [x, weight] = [x, weight].map(|shape| Layout::contiguous("test", &shape).unwrap());
    ConvGeometry::new("test", &x, &weight, &options(case)).unwrap()
}

fn reals<T: Element>(values: &[T]) -> Vec<f64> {
    values.iter().map(|value| value.to_f64()).collect()
}

const LAYS: [Lay; 6] = [Lay::Plain, Lay::Vectors, Lay::Reversed, Lay::Gaps, Lay::Even, Lay::Odd];

/// Each case in one layout, with NaN around the elements of each operand.
fn forward<T: Real>(gpu: &Gpu, forms: &mut Forms, at: usize, case: Case) {
    let reference = ConvReference { geometry: geometry(case) };
    let (of_x, of_weight) = (reference.geometry.input_shape(), reference.geometry.weight_shape());
    let (of_y, outputs) = (reference.geometry.output_shape(), reference.geometry.outputs);
    let (x, weight) = (values::<T>(&of_x, 2.0, 1), values::<T>(&of_weight, 1.0, 2));
    let [has_bias, has_scale, has_residual] =
        [[false; 3], [true, false, false], [false, true, false], [true, true, true]][at % 4];
    let bias = has_bias.then(|| values::<T>(&[outputs], 3.0, 3));
    let scale_shift = has_scale.then(|| [4, 5].map(|seed| values::<f32>(&[outputs], 1.0, seed)));
    let residual = has_residual.then(|| values::<T>(&of_y, 3.0, 6));
    let activation = [Activation::None, Activation::Silu, Activation::Relu][at % 3];
    let lays = [0, 1, 2].map(|operand| LAYS[(at % 5 * (operand + 1)) % 6]);
    let run = |gpu: &Gpu| {
        let of = |data: &[T], shape: &[usize], lay| Placed::new(gpu, data, shape, lay).tensor;
        let (x, weight) = (of(&x, &of_x, lays[0]), of(&weight, &of_weight, lays[1]));
        let bias = bias.as_ref().map(|bias| of(bias, &[outputs], lays[1]));
        let residual = residual.as_ref().map(|residual| of(residual, &of_y, lays[2]));
        let scale_shift = scale_shift
            .as_ref()
            .map(|both| [0, 1].map(|which| Placed::new(gpu, &both[which], &[outputs], lays[2]).tensor));
        let mut convolution = Convolution::of_volumes(&x, &weight).options(options(case));
        if let Some(bias) = &bias {
            convolution = convolution.bias(bias);
        }
        if let Some([scale, shift]) = &scale_shift {
            convolution = convolution.scale_shift(scale, shift);
        }
        if let Some(residual) = &residual {
            convolution = convolution.residual(residual);
        }
        convolution.activation(activation).run().unwrap()
    };
    if !forms.takes(gpu, case, run) {
        return;
    }
    let y = run(gpu);
    assert_eq!(y.shape(), of_y);
    let epilogue = ConvEpilogueReference {
        bias: bias.as_deref().map(reals),
        scale_shift: scale_shift.as_ref().map(|[scale, shift]| [reals(scale), reals(shift)]),
        residual: residual.as_deref().map(reals),
        activation,
    };
    let want = reference.forward(&x, &weight, &epilogue);
    let got = y.to_vec().unwrap();
    assert_ok(&want.compare(&got), (T::DTYPE, case, lays, activation));
    assert_eq!(got, run(gpu).to_vec().unwrap(), "same plan, same bits");
}

fn gradients<T: Real>(gpu: &Gpu, forms: &mut Forms, at: usize, case: Case) {
    let reference = ConvReference { geometry: geometry(case) };
    let (of_x, of_weight) = (reference.geometry.input_shape(), reference.geometry.weight_shape());
    let (of_y, outputs) = (reference.geometry.output_shape(), reference.geometry.outputs);
    let (x, weight) = (values::<T>(&of_x, 2.0, 1), values::<T>(&of_weight, 1.0, 2));
    let grad = values::<T>(&of_y, 1.0, 3);
    let lays = [0, 1, 2].map(|operand| LAYS[(at % 5 * (operand + 1)) % 6]);
    let run = |gpu: &Gpu| {
        let of = |data: &[T], shape: &[usize], lay| Placed::new(gpu, data, shape, lay).tensor;
        let (x, weight, grad) =
            (of(&x, &of_x, lays[0]), of(&weight, &of_weight, lays[1]), of(&grad, &of_y, lays[2]));
        let bias = (at == 0).then(|| gpu.zeros::<T>([outputs]).unwrap());
        conv3d_backward(&x, &weight, bias.as_ref(), &options(case), &grad).unwrap()
    };
    if !forms.takes(gpu, ("gradients", case), run) {
        return;
    }
    let (made, gradients) = run(gpu);
    assert_eq!(made.shape(), of_x);
    let what = (T::DTYPE, case, lays);
    assert_ok(&reference.input_gradient(&grad, &weight).compare(&made.to_vec().unwrap()), ("x", what));
    let found = |name| gradients.get(name).unwrap().to_vec().unwrap();
    assert_eq!(gradients.get("weight").unwrap().shape(), of_weight);
    assert_ok(&reference.weight_gradient(&x, &grad).compare(&found("weight")), ("weight", what));
    assert_eq!(gradients.get("bias").is_some(), at == 0);
    if at == 0 {
        assert_ok(&reference.bias_gradient(&grad).compare(&found("bias")), ("bias", what));
    }
    let (again, others) = run(gpu);
    assert_eq!(support::operand::bits(&made), support::operand::bits(&again), "same plan, same bits");
    assert_eq!(found("weight"), others.get("weight").unwrap().to_vec().unwrap(), "same plan, same bits");
}

/// One sweep, so that all of it shares kernels.
#[test]
fn convolutions_of_volumes_agree_with_their_definitions() {
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        for (at, case) in CASES.into_iter().enumerate().step_by(support::by_sweep(1, 1, 7)) {
            forward::<T>(gpu, forms, at, case);
            gradients::<T>(gpu, forms, at, case);
        }
    }
    let run = |turn: &Turn, forms: &mut Forms| for_all_types_and_a_gpu!(turn, test, forms);
    forms::sweep(90, run);
}

/// A launch for a convolution, also with a weight that is stored channels first, and the sums of conv2d for a kernel of one plane.
/// All sums are of small integers, which are exact.
#[test]
fn convolutions_of_volumes_take_one_launch() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let integers = |shape: [usize; 5], step: usize| {
        let count: usize = shape.iter().product();
        let values: Vec<f32> = (0..count).map(|at| (at * step % 7) as f32 - 3.0).collect();
        gpu.tensor(&values, shape).unwrap()
    };
    let (x, weight) = (integers([2, 4, 6, 6, 8], 5), integers([8, 3, 3, 3, 8], 3));
    let first = weight.permute(&[0, 4, 1, 2, 3]).unwrap().contiguous().unwrap();
    let first = first.permute(&[0, 2, 3, 4, 1]).unwrap();
    let counted = |run: &dyn Fn() -> Tensor<f32>| {
        let before = gpu.stats().launches;
        let y = run();
        (gpu.stats().launches - before, y.to_vec().unwrap())
    };
    let options = ConvOptions::new().padding(all(1));
    let (launches, y) = counted(&|| conv3d(&x, &weight, None, &options).unwrap());
    let plan = Convolution::of_volumes(&x, &weight).options(options).plan().unwrap();
    // Two with splits, which devices with many cores take for few windows.
    assert!((1..=2).contains(&plan.steps().len()), "{plan}");
    assert_eq!(launches, plan.steps().len() as u64);
    assert_eq!(counted(&|| conv3d(&x, &first, None, &options).unwrap()), (launches, y));

    let (flat, kernel) = (x.reshape([8, 6, 6, 8]).unwrap(), integers([8, 1, 3, 3, 8], 4));
    let padding = Padding::Explicit([[0, 0], [1, 1], [1, 1]]);
    let planes = conv3d(&x, &kernel, None, &ConvOptions::new().padding(padding)).unwrap();
    let of_images = ConvOptions::new().padding(Padding::Explicit([[1, 1], [1, 1]]));
    let images = conv2d(&flat, &kernel.reshape([8, 3, 3, 8]).unwrap(), None, &of_images).unwrap();
    assert_eq!(planes.to_vec().unwrap(), images.to_vec().unwrap());
}

/// A NaN is in the sums of the windows that contain it, and in no others: the padding reads no neighbour.
#[test]
fn a_nan_spreads_to_its_windows_of_a_volume_alone() {
    let Some(gpu) = support::gpu() else { return };
    let mut values = vec![1.0f32; 2 * 5 * 4 * 4 * 2];
    values[(4 * 16 + 4 + 1) * 2 + 1] = f32::NAN; // of volume 0, the last plane, row 1, column 1, channel 1
    let x = gpu.tensor(&values, [2, 5, 4, 4, 2]).unwrap();
    for groups in [1, 2] {
        let weight = gpu.full([2, 3, 3, 3, 2 / groups], 1.0f32).unwrap();
        let options = ConvOptions::new().padding(all(1)).groups(groups);
        let y = conv3d(&x, &weight, None, &options).unwrap().to_vec().unwrap();
        for (at, y) in y.into_iter().enumerate() {
            let [volume, plane, row, column, channel] =
                [at / 160, at / 32 % 5, at / 8 % 4, at / 2 % 4, at % 2];
            let has_nan =
                volume == 0 && plane >= 3 && row <= 2 && column <= 2 && (groups == 1 || channel == 1);
            assert_eq!(y.is_nan(), has_nan, "{groups} groups: {plane} {row} {column} {channel}");
        }
    }
}

/// A kernel of one tap whose outputs are next to each other, and some of the channels of volumes: both are read in place.
#[test]
fn a_kernel_of_one_tap_may_have_any_strides() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let integers = |shape: [usize; 5]| {
        let count: usize = shape.iter().product();
        let values: Vec<f32> = (0..count).map(|at| (at * 5 % 7) as f32 - 3.0).collect();
        gpu.tensor(&values, shape).unwrap()
    };
    let x = integers([1, 2, 3, 4, 16]).slice(4, 0..8).unwrap();
    let weight = integers([8, 1, 1, 1, 4]).permute(&[4, 1, 2, 3, 0]).unwrap();
    let options = ConvOptions::new();
    let before = gpu.stats().launches;
    let y = conv3d(&x, &weight, None, &options).unwrap();
    assert_eq!(gpu.stats().launches - before, 1);
    let copies = [&x, &weight].map(|of| of.contiguous().unwrap());
    let want = conv3d(&copies[0], &copies[1], None, &options).unwrap();
    assert_eq!(y.to_vec().unwrap(), want.to_vec().unwrap());
}

/// Pixels that no tap reads have the gradient 0 whatever the weight is.
#[test]
fn an_infinite_weight_is_in_no_gradient_of_a_pixel_that_is_not_read() {
    let Some(gpu) = support::gpu() else { return };
    let options = ConvOptions::<3>::new().stride([2; 3]);
    let (x, weight) =
        (gpu.zeros([2, 3, 4, 5, 8]).unwrap(), gpu.full([8, 1, 1, 1, 8], f32::INFINITY).unwrap());
    let grad = gpu.full([2, 2, 2, 3, 8], 1.0f32).unwrap();
    let (of_x, _) = conv3d_backward(&x, &weight, None, &options, &grad).unwrap();
    for (at, found) in of_x.to_vec().unwrap().into_iter().enumerate() {
        let [plane, row, column] = [at / (8 * 20) % 3, at / (8 * 5) % 4, at / 8 % 5];
        let is_read = [plane, row, column].iter().all(|place| place % 2 == 0);
        assert_eq!(found, if is_read { f32::INFINITY } else { 0.0 }, "{plane}, {row}, {column}");
    }
}

#[test]
fn no_volumes_are_empty() {
    let Some(gpu) = support::gpu() else { return };
    let of = |shape: [usize; 5]| gpu.empty::<f32>(shape).unwrap();
    let (x, weight) = (of([0, 4, 5, 5, 3]), of([8, 2, 3, 3, 3]));
    let y = conv3d(&x, &weight, None, &ConvOptions::new()).unwrap();
    assert_eq!(y.shape(), [0, 3, 3, 3, 8]);
    let (of_x, gradients) = conv3d_backward(&x, &weight, None, &ConvOptions::new(), &y).unwrap();
    assert_eq!(of_x.shape(), x.shape());
    assert_eq!(gradients.get("weight").unwrap().to_vec().unwrap(), [0.0; 8 * 2 * 9 * 3]);
}
