//! Convolutions against their definition: kernels, strides, dilations, paddings, groups, layouts, types and epilogues.

use support::forms::{self, Forms};
use support::strided::{Lay, Placed};
use support::turn::Turn;
use support::values::{assert_ok, for_all_types_and_a_gpu, values};
use tilewise::conv::{ConvGeometry, ConvOptions, Convolution, Padding, SamePadding, conv1d, conv2d};
use tilewise::reference::{ConvEpilogueReference, ConvReference};
use tilewise::{Activation, Element, Gpu, Layout, Real, Tensor};

/// Images, height, width and channels; outputs, and height and width of the kernel; stride, dilation, padding and groups.
pub(crate) type Case = ([usize; 4], [usize; 3], [usize; 2], [usize; 2], Padding, usize);

const fn all(of: usize) -> Padding {
    Padding::Explicit([[of; 2]; 2])
}
const END: Padding = Padding::Same(SamePadding::ExtraAtEnd);
const START: Padding = Padding::Same(SamePadding::ExtraAtStart);

pub(crate) const CASES: [Case; 35] = [
    ([2, 9, 7, 8], [16, 3, 3], [1, 1], [1, 1], all(1), 1),
    ([1, 8, 10, 13], [17, 3, 3], [1, 1], [1, 1], all(1), 1),
    ([2, 17, 15, 3], [16, 3, 3], [2, 2], [1, 1], all(1), 1),
    ([1, 20, 32, 3], [8, 7, 7], [2, 2], [1, 1], all(3), 1),
    ([2, 7, 5, 24], [40, 1, 1], [1, 1], [1, 1], Padding::Valid, 1),
    ([1, 10, 11, 8], [8, 1, 1], [3, 3], [1, 1], Padding::Valid, 1), // columns that are not read
    ([2, 8, 8, 12], [32, 2, 2], [2, 2], [1, 1], Padding::Valid, 1),
    ([2, 1, 65, 16], [16, 1, 9], [1, 1], [1, 1], all(4), 1), // nine rows for one
    ([1, 13, 11, 8], [12, 5, 3], [1, 1], [2, 2], all(4), 1),
    ([2, 11, 12, 6], [10, 3, 3], [1, 2], [2, 1], all(2), 1),
    ([1, 11, 10, 8], [16, 4, 4], [2, 2], [1, 1], all(1), 1),
    ([1, 9, 9, 8], [8, 4, 4], [1, 1], [1, 1], END, 1),
    ([1, 9, 9, 8], [8, 4, 4], [1, 1], [1, 1], START, 1),
    ([1, 9, 10, 4], [4, 4, 3], [2, 2], [1, 1], END, 1),
    ([1, 9, 10, 4], [4, 4, 3], [2, 2], [1, 1], START, 1),
    ([2, 3, 3, 4], [8, 5, 5], [1, 1], [1, 1], all(2), 1), // larger than the images
    ([3, 1, 1, 8], [8, 3, 3], [1, 1], [1, 1], all(1), 1),
    ([1, 5, 6, 4], [4, 3, 2], [1, 1], [1, 1], Padding::Explicit([[0, 3], [2, 0]]), 1),
    ([1, 4, 5, 4], [4, 2, 2], [1, 1], [1, 1], all(5), 1), // windows of zeros alone
    ([1, 2, 300, 4], [5, 1, 3], [1, 1], [1, 1], all(1), 1),
    ([1, 12, 40, 4], [4, 3, 3], [1, 1], [3, 9], all(0), 1),
    ([1, 12, 40, 4], [4, 2, 2], [5, 30], [1, 1], all(0), 1),
    // Groups, which are products if they are large enough.
    ([2, 7, 8, 32], [40, 3, 3], [1, 1], [1, 1], all(1), 2),
    ([1, 9, 7, 27], [24, 3, 2], [2, 1], [1, 2], all(1), 3),
    ([2, 6, 6, 64], [32, 1, 1], [1, 1], [1, 1], Padding::Valid, 4),
    ([2, 8, 8, 16], [24, 3, 3], [1, 1], [1, 1], all(1), 4),
    ([1, 7, 8, 6], [10, 3, 3], [2, 1], [1, 1], all(1), 2),
    ([1, 6, 6, 6], [8, 3, 3], [1, 1], [1, 1], all(1), 2),
    ([2, 9, 9, 12], [24, 3, 3], [2, 2], [1, 1], all(1), 12),
    // Depthwise.
    ([2, 10, 9, 16], [16, 3, 3], [1, 1], [1, 1], all(1), 16),
    ([1, 11, 9, 13], [13, 3, 3], [1, 1], [1, 1], END, 13),
    ([1, 11, 14, 16], [16, 3, 3], [2, 2], [1, 1], all(1), 16),
    ([1, 9, 11, 16], [16, 5, 5], [1, 1], [1, 1], END, 16),
    ([1, 9, 12, 20], [20, 3, 3], [1, 1], [2, 2], all(2), 20),
    ([1, 6, 7, 5], [5, 2, 4], [1, 3], [1, 1], START, 5),
];

pub(crate) fn options((_, _, stride, dilation, padding, groups): Case) -> ConvOptions {
    ConvOptions::new().stride(stride).dilation(dilation).padding(padding).groups(groups)
}

pub(crate) fn shapes((x, [outputs, height, width], .., groups): Case) -> [[usize; 4]; 2] {
    [x, [outputs, height, width, x[3] / groups]]
}

pub(crate) fn geometry(case: Case) -> ConvGeometry {
    let [x, weight] = shapes(case).map(|shape| Layout::contiguous("test", &shape).unwrap());
    ConvGeometry::new("test", &x, &weight, &options(case)).unwrap()
}

/// The operands of a case on the host, and its epilogue.
struct Data<T: Real> {
    case: Case,
    x: Vec<T>,
    weight: Vec<T>,
    bias: Option<Vec<T>>,
    scale_shift: Option<[Vec<f32>; 2]>,
    residual: Option<Vec<T>>,
    activation: Activation,
}

fn reals<T: Element>(values: &[T]) -> Vec<f64> {
    values.iter().map(|value| value.to_f64()).collect()
}

impl<T: Real> Data<T> {
    /// The epilogues take turns.
    fn new(at: usize, case: Case) -> Self {
        let geometry = geometry(case);
        let outputs = [geometry.outputs];
        let [has_bias, has_scale, has_residual] = [
            [false; 3],
            [true, false, false],
            [false, true, false],
            [true, true, true],
            [false, false, true],
        ][at % 5];
        let activations = [Activation::None, Activation::Silu, Activation::Relu, Activation::Gelu];
        Self {
            case,
            x: values(&geometry.input_shape(), 2.0, 1),
            weight: values(&geometry.weight_shape(), 1.0, 2),
            bias: has_bias.then(|| values(&outputs, 3.0, 3)),
            scale_shift: has_scale.then(|| [4, 5].map(|seed| values(&outputs, 1.0, seed))),
            residual: has_residual.then(|| values(&geometry.output_shape(), 3.0, 6)),
            activation: activations[at % 4],
        }
    }

    /// The operands in these layouts, each with NaN around its elements.
    fn place(&self, gpu: &Gpu, lays: [Lay; 3]) -> Operands<T> {
        let geometry = geometry(self.case);
        let outputs = [geometry.outputs];
        let [of_x, of_weight, of_residual] = lays;
        Operands {
            x: Placed::new(gpu, &self.x, &geometry.input_shape(), of_x).tensor,
            weight: Placed::new(gpu, &self.weight, &geometry.weight_shape(), of_weight).tensor,
            bias: self.bias.as_ref().map(|bias| Placed::new(gpu, bias, &outputs, of_weight).tensor),
            scale_shift: self
                .scale_shift
                .as_ref()
                .map(|both| [0, 1].map(|which| Placed::new(gpu, &both[which], &outputs, of_residual).tensor)),
            residual: self
                .residual
                .as_ref()
                .map(|residual| Placed::new(gpu, residual, &geometry.output_shape(), of_residual).tensor),
            options: options(self.case),
            activation: self.activation,
        }
    }

    fn epilogue(&self) -> ConvEpilogueReference {
        ConvEpilogueReference {
            bias: self.bias.as_deref().map(reals),
            scale_shift: self.scale_shift.as_ref().map(|[scale, shift]| [reals(scale), reals(shift)]),
            residual: self.residual.as_deref().map(reals),
            activation: self.activation,
        }
    }
}

/// The operands of a case on a device.
struct Operands<T: Real> {
    x: Tensor<T>,
    weight: Tensor<T>,
    bias: Option<Tensor<T>>,
    scale_shift: Option<[Tensor<f32>; 2]>,
    residual: Option<Tensor<T>>,
    options: ConvOptions,
    activation: Activation,
}

impl<T: Real> Operands<T> {
    fn convolution(&self) -> Convolution<'_, T> {
        let mut convolution = Convolution::new(&self.x, &self.weight).options(self.options);
        if let Some(bias) = &self.bias {
            convolution = convolution.bias(bias);
        }
        if let Some([scale, shift]) = &self.scale_shift {
            convolution = convolution.scale_shift(scale, shift);
        }
        if let Some(residual) = &self.residual {
            convolution = convolution.residual(residual);
        }
        convolution.activation(self.activation)
    }

    fn run(&self) -> Tensor<T> {
        self.convolution().run().unwrap()
    }
}

/// One sweep, so that all of it shares kernels.
#[test]
fn convolutions_agree_with_their_definition() {
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        let lays = [Lay::Plain, Lay::Vectors, Lay::Reversed, Lay::Gaps, Lay::Even, Lay::Odd];
        for (at, case) in CASES.into_iter().enumerate() {
            let data = Data::<T>::new(at, case);
            for turn in [0, 1 + at % 5] {
                let lays = [0, 1, 2].map(|operand| lays[(turn * (operand + 1)) % 6]);
                if !forms.takes(gpu, case, |gpu| data.place(gpu, lays).run()) {
                    continue;
                }
                let reference = ConvReference { geometry: geometry(case) };
                let want = reference.forward(&data.x, &data.weight, &data.epilogue());
                let operands = data.place(gpu, lays);
                let launches = gpu.stats().launches;
                let y = operands.run();
                // One, or two with splits, which devices with many cores take for few windows.
                let steps = operands.convolution().plan().unwrap().steps().len();
                assert!(steps == 1 || steps == 2 && geometry(case).groups == 1, "{case:?}");
                assert_eq!(gpu.stats().launches - launches, steps as u64, "{case:?}");
                assert_eq!(y.shape(), reference.geometry.output_shape());
                let got = y.to_vec().unwrap();
                assert_ok(&want.compare(&got), (T::DTYPE, case, lays, data.activation));
                assert_eq!(got, operands.run().to_vec().unwrap(), "same plan, same bits");
            }
        }
    }
    let run = |turn: &Turn, forms: &mut Forms| for_all_types_and_a_gpu!(turn, test, forms);
    forms::sweep(68, run);
}

/// The digits tell which elements a window has: x times powers of ten. The numbers of ONNX, TensorFlow and JAX.
#[test]
fn same_padding_is_that_of_other_libraries() {
    let Some(gpu) = support::gpu() else { return };
    let x = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0, 5.0], [1, 1, 5, 1]).unwrap();
    let weight = gpu.tensor(&[1.0f32, 10.0, 100.0, 1000.0], [1, 1, 4, 1]).unwrap();
    for (padding, stride, want) in [
        (END, 1, vec![3210.0, 4321.0, 5432.0, 543.0, 54.0]),
        (START, 1, vec![2100.0, 3210.0, 4321.0, 5432.0, 543.0]),
        (END, 2, vec![3210.0, 5432.0, 54.0]),
        (START, 2, vec![2100.0, 4321.0, 543.0]),
        (Padding::Valid, 1, vec![4321.0, 5432.0]),
        (Padding::Valid, 2, vec![4321.0]),
    ] {
        let options = ConvOptions::new().stride([1, stride]).padding(padding);
        let y = conv2d(&x, &weight, None, &options).unwrap();
        assert_eq!(y.to_vec().unwrap(), want, "{padding:?} with stride {stride}");
    }
}

/// A NaN is in the sums of the windows that contain it, and in no others: the padding reads no neighbour.
#[test]
fn a_nan_spreads_to_its_windows_alone() {
    let Some(gpu) = support::gpu() else { return };
    let mut values = vec![1.0f32; 2 * 6 * 6 * 4];
    values[(6 + 1) * 4 + 2] = f32::NAN; // of image 0, row 1, column 1, channel 2
    let x = gpu.tensor(&values, [2, 6, 6, 4]).unwrap();
    for groups in [1, 4] {
        let weight = gpu.full([4, 3, 3, 4 / groups], 1.0f32).unwrap();
        let options = ConvOptions::new().padding(all(1)).groups(groups);
        let y = conv2d(&x, &weight, None, &options).unwrap().to_vec().unwrap();
        for (at, y) in y.into_iter().enumerate() {
            let [image, row, column, channel] = [at / 144, at / 24 % 6, at / 4 % 6, at % 4];
            let has_nan = image == 0 && row <= 2 && column <= 2 && (groups == 1 || channel == 2);
            assert_eq!(y.is_nan(), has_nan, "{groups} groups: {row} {column} {channel}");
        }
    }
}

/// Sequences against the definition of one axis.
#[test]
fn convolutions_of_sequences_are_those_of_one_row() {
    let Some(gpu) = support::gpu() else { return };
    let options =
        ConvOptions::new().stride([1, 2]).dilation([1, 3]).padding(Padding::Explicit([[0, 0], [2, 5]]));
    let shapes = [[2, 21, 6], [4, 4, 3]];
    let geometry =
        geometry(([2, 1, 21, 6], [4, 1, 4], [1, 2], [1, 3], Padding::Explicit([[0, 0], [2, 5]]), 2));
    let [x, weight] = [0, 1].map(|which| values::<f32>(&shapes[which], 1.0, which as u64));
    let bias = values::<f32>(&[4], 1.0, 2);
    let tensor = |values: &[f32], shape: [usize; 3]| gpu.tensor(values, shape).unwrap();
    let [tx, tw] = [tensor(&x, shapes[0]), tensor(&weight, shapes[1])];
    let y = conv1d(&tx, &tw, Some(&gpu.tensor(&bias, [4]).unwrap()), &options.groups(2)).unwrap();
    let axis = geometry.axes[1];
    assert_eq!(y.shape(), [2, axis.output, 4]);
    let of_one = ConvGeometry { batch: 2, channels: 6, outputs: 4, groups: 2, axes: [axis] };
    let epilogue = ConvEpilogueReference { bias: Some(reals(&bias)), ..Default::default() };
    let want = ConvReference { geometry: of_one }.forward(&x, &weight, &epilogue);
    assert_ok(&want.compare(&y.to_vec().unwrap()), "sequences");
}

#[test]
fn no_images_and_no_outputs_are_empty() {
    let Some(gpu) = support::gpu() else { return };
    let of = |shape: [usize; 4]| gpu.empty::<f32>(shape).unwrap();
    let y = conv2d(&of([0, 5, 5, 3]), &of([8, 3, 3, 3]), None, &ConvOptions::new()).unwrap();
    assert_eq!(y.shape(), [0, 3, 3, 8]);
    let y = conv2d(&of([2, 5, 5, 3]), &of([0, 3, 3, 3]), None, &ConvOptions::new()).unwrap();
    assert_eq!(y.shape(), [2, 3, 3, 0]);
}
