//! Gradients of convolutions and transposed convolutions against their definitions.

use crate::convolution::{CASES, Case, geometry, options, shapes};
use support::forms::{self, Forms};
use support::strided::{Lay, Placed};
use support::turn::Turn;
use support::values::{assert_ok, for_all_types_and_a_gpu, values};
use tilewise::conv::{
    ConvGeometry, ConvOptions, Padding, SamePadding, conv_transpose2d, conv_transpose2d_backward,
    conv2d_backward,
};
use tilewise::reference::{ConvEpilogueReference, ConvReference};
use tilewise::{Gpu, Layout, Real, Tensor};

/// One sweep, so that all of it shares kernels.
#[test]
fn gradients_agree_with_their_definitions() {
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        for (at, case) in CASES.into_iter().enumerate().step_by(support::by_sweep(1, 1, 2)) {
            gradients::<T>(gpu, forms, at, case);
            transposed::<T>(gpu, forms, at, case);
        }
    }
    let run = |turn: &Turn, forms: &mut Forms| for_all_types_and_a_gpu!(turn, test, forms);
    forms::sweep(140, run);
}

const LAYS: [Lay; 6] = [Lay::Plain, Lay::Vectors, Lay::Reversed, Lay::Gaps, Lay::Even, Lay::Odd];

fn gradients<T: Real>(gpu: &Gpu, forms: &mut Forms, at: usize, case: Case) {
    let reference = ConvReference { geometry: geometry(case) };
    let ([of_x, of_weight], of_y) = (shapes(case), reference.geometry.output_shape());
    let data: [Vec<T>; 3] = [values(&of_x, 2.0, 1), values(&of_weight, 1.0, 2), values(&of_y, 1.0, 3)];
    let [x, weight, grad] = &data;
    let lays = [0, 1, 2].map(|operand| LAYS[(at % 5 * (operand + 1)) % 6]);
    let run = |gpu: &Gpu| {
        let place = |data: &[T], shape: [usize; 4], lay| Placed::new(gpu, data, &shape, lay).tensor;
        let [x, weight, grad] =
            [place(x, of_x, lays[0]), place(weight, of_weight, lays[1]), place(grad, of_y, lays[2])];
        // Its gradient is a product, which other tests sweep.
        let bias = (at == 0).then(|| gpu.zeros::<T>([of_y[3]]).unwrap());
        conv2d_backward(&x, &weight, bias.as_ref(), &options(case), &grad).unwrap()
    };
    if !forms.takes(gpu, ("gradients", case), run) {
        return;
    }
    let (made, gradients) = run(gpu);
    assert_eq!(made.shape(), of_x);
    let what = (T::DTYPE, case, lays);
    assert_ok(&reference.input_gradient(grad, weight).compare(&made.to_vec().unwrap()), ("x", what));
    let found = |name| gradients.get(name).unwrap().to_vec().unwrap();
    assert_eq!(gradients.get("weight").unwrap().shape(), of_weight);
    assert_ok(&reference.weight_gradient(x, grad).compare(&found("weight")), ("weight", what));
    assert_eq!(gradients.get("bias").is_some(), at == 0);
    if at == 0 {
        assert_ok(&reference.bias_gradient(grad).compare(&found("bias")), ("bias", what));
    }
    let (again, others) = run(gpu);
    assert_eq!(bits(&made), bits(&again), "same plan, same bits");
    assert_eq!(found("weight"), others.get("weight").unwrap().to_vec().unwrap(), "same plan, same bits");
}

fn bits<T: Real>(tensor: &Tensor<T>) -> Vec<u8> {
    support::operand::bits(tensor)
}

/// The case as a transposed convolution: its images are those of the result.
fn transposed<T: Real>(gpu: &Gpu, forms: &mut Forms, at: usize, case: Case) {
    let ([height, width], options) = ([case.0[1], case.0[2]], options(case));
    let of_x = [case.0[0], height, width, case.1[0]];
    let of_weight = shapes(case)[1];
    let [x, weight] = [of_x, of_weight].map(|shape| Layout::contiguous("test", &shape).unwrap());
    let more = case.2.map(|stride| if at.is_multiple_of(2) { 0 } else { stride - 1 });
    let geometry = ConvGeometry::transposed("test", &x, &weight, &options, more);
    // Not every padding leaves a result, and `Same` takes no output padding.
    let Ok(geometry) = geometry else { return };
    let reference = ConvReference { geometry };
    let of_y = geometry.input_shape();
    let data: [Vec<T>; 4] = [
        values(&of_x, 1.0, 1),
        values(&of_weight, 1.0, 2),
        values(&[of_y[3]], 1.0, 3),
        values(&of_y, 1.0, 4),
    ];
    let [x, weight, bias, grad] = &data;
    let run = |gpu: &Gpu| {
        let of =
            |data: &[T], shape: &[usize]| Placed::new(gpu, data, shape, LAYS[(at + shape.len()) % 6]).tensor;
        let [x, weight, bias, grad] =
            [of(x, &of_x), of(weight, &of_weight), of(bias, &[of_y[3]]), of(grad, &of_y)];
        let y = conv_transpose2d(&x, &weight, Some(&bias), &options, more).unwrap();
        let gradients = conv_transpose2d_backward(&x, &weight, None, &options, more, &grad).unwrap();
        (y, gradients)
    };
    if !forms.takes(gpu, ("transposed", case), run) {
        return;
    }
    let (y, (of_operand, gradients)) = run(gpu);
    assert_eq!(y.shape(), of_y);
    let epilogue = ConvEpilogueReference::of_bias(bias);
    let want = epilogue.apply(&reference.input_gradient(x, weight), geometry.channels);
    assert_ok(&want.compare(&y.to_vec().unwrap()), ("transposed", T::DTYPE, case));
    let none = ConvEpilogueReference::default();
    let want = reference.forward(grad, weight, &none);
    assert_ok(&want.compare(&of_operand.to_vec().unwrap()), ("of x", T::DTYPE, case));
    let found = gradients.get("weight").unwrap().to_vec().unwrap();
    assert_ok(&reference.weight_gradient(grad, x).compare(&found), ("of the weight", T::DTYPE, case));
}

/// Pixel 3 of a row meets the second weight alone, in window 2; turned, in a column.
#[test]
fn a_nan_weight_is_in_the_gradients_that_it_meets() {
    let Some(gpu) = support::gpu() else { return };
    let weight = [f32::NAN, 1.0];
    for [down, across] in [[1, 0], [0, 1]] {
        let of = |values: &[f32], length: usize| {
            let extent = |along: usize| if along == 1 { length } else { 1 };
            gpu.tensor(values, [1, extent(down), extent(across), 1]).unwrap()
        };
        let (x, weight, grad) = (of(&[1.0; 4], 4), of(&weight, 2), of(&[1.0; 3], 3));
        let (made, _) = conv2d_backward(&x, &weight, None, &ConvOptions::new(), &grad).unwrap();
        let made = made.to_vec().unwrap();
        assert!(made[..3].iter().all(|x| x.is_nan()), "{made:?}");
        assert_eq!(made[3], 1.0);
    }
}

/// A product also multiplies the zeros around the gradient: at the edges more pixels may be NaN than by the definition, and in no other
/// channel.
#[test]
fn a_nan_weight_of_a_product_stays_in_its_channel() {
    let Some(gpu) = support::gpu() else { return };
    let (channels, [height, width]) = (8, [5, 6]);
    let options = ConvOptions::new().padding(Padding::Same(SamePadding::ExtraAtEnd));
    let x = gpu.zeros::<f32>([2, height, width, channels]).unwrap();
    let grad = gpu.tensor(&values::<f32>(x.shape(), 1.0, 1), x.shape()).unwrap();
    let shape = [channels, 3, 3, channels];
    let mut weight = values::<f32>(&shape, 1.0, 2);
    let gradient = |weight: &[f32]| {
        let weight = gpu.tensor(weight, shape).unwrap();
        conv2d_backward(&x, &weight, None, &options, &grad).unwrap().0.to_vec().unwrap()
    };
    // The first tap of output 3 and channel 2, whose windows begin one row and one column before their pixel.
    let nan = 3 * 9 * channels + 2;
    weight[nan] = 0.0;
    let without = gradient(&weight);
    weight[nan] = f32::NAN;
    for (at, (with, without)) in gradient(&weight).into_iter().zip(without).enumerate() {
        let (pixel, channel) = (at / channels, at % channels);
        let [row, column] = [pixel / width % height, pixel % width];
        let is_met = channel == 2 && row + 1 < height && column + 1 < width;
        let may_be = channel == 2 && (row + 1 == height || column + 1 == width);
        assert!(with.is_nan() == is_met || may_be, "pixel {row}, {column}, channel {channel}: {with}");
        assert!(with.is_nan() || with.to_bits() == without.to_bits(), "{with}, not {without}");
    }
}

/// Two launches for the gradient of a long weight, which is summed in parts; temporary memory of less than a mebibyte.
#[test]
fn gradients_take_few_launches_and_little_memory() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let [x, weight, grad] =
        [[2, 32, 32, 16], [16, 3, 3, 16], [2, 32, 32, 16]].map(|shape| gpu.zeros::<f32>(shape).unwrap());
    let options = ConvOptions::new().padding(Padding::Same(SamePadding::ExtraAtEnd));
    gpu.wait().unwrap();
    let before = gpu.stats();
    let (of_x, gradients) = conv2d_backward(&x, &weight, None, &options, &grad).unwrap();
    let after = gpu.stats();
    assert!(after.launches - before.launches <= 3, "{}", after.launches - before.launches);
    let made = of_x.len() * 4 + gradients.get("weight").unwrap().len() * 4;
    let more = after.bytes_peak - before.bytes_peak;
    assert!(more <= made as u64 + (1 << 20), "{more} bytes for results of {made}");
}
