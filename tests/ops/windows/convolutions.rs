//! Convolutions of many images, those of i8, and gradients.

use super::{Pair, joined, place};
use support::strided::Lay;
use support::values::values;
use tilewise::conv::{
    ConvOptions, ConvScales, Convolution, Padding, conv_transpose2d, conv2d_backward, conv2d_quantised,
};
use tilewise::{Activation, Gpu, Tensor};

#[test]
fn convolutions_of_many_images() {
    let Some(pair) = Pair::on_the_first_driver() else { return };
    let shape = [11, 20, 21, 12];
    let [x, residual] = [1, 2].map(|seed| values::<f32>(&shape, 1.0, seed));
    let (weight, bias) = (values::<f32>(&[12, 3, 3, 4], 1.0, 3), values::<f32>(&[12], 1.0, 4));
    let options = ConvOptions::new().groups(3).padding(Padding::Explicit([[1; 2]; 2]));
    for lay in [Lay::Plain, Lay::Odd] {
        pair.same("a convolution", |gpu| {
            let [x, residual] = [&x, &residual].map(|of| place(gpu, of, &shape, lay));
            let weight = place(gpu, &weight, &[12, 3, 3, 4], lay);
            let bias = place(gpu, &bias, &[12], lay);
            Convolution::new(&x, &weight).options(options).bias(&bias).residual(&residual).run()
        });
        pair.same("a transposed convolution", |gpu| {
            let (x, weight) = (place(gpu, &x, &shape, lay), place(gpu, &weight, &[12, 3, 3, 4], lay));
            conv_transpose2d(&x, &weight, None, &options, [0, 0])
        });
    }
    pair.close("gradients of a convolution", 1e-4, |gpu| {
        let [x, grad] = [&x, &residual].map(|of| place(gpu, of, &shape, Lay::Odd));
        let (weight, bias) = (place(gpu, &weight, &[12, 3, 3, 4], Lay::Odd), gpu.zeros([12])?);
        let (of_x, gradients) = conv2d_backward(&x, &weight, Some(&bias), &options, &grad)?;
        let [weight, bias] = ["weight", "bias"].map(|name| gradients.get(name).expect("it is there").clone());
        joined(&[of_x, weight, bias])
    });
}

#[test]
fn convolutions_of_many_images_of_i8() {
    let Some(pair) = Pair::on_the_first_driver() else { return };
    let shape = [11, 20, 21, 17];
    let [x, weight] =
        [(&shape[..], 1), (&[7, 3, 3, 17], 2)].map(|(of, seed)| (values::<f32>(of, 100.0, seed), of));
    let bias = values::<f32>(&[7], 1e4, 3);
    let options = ConvOptions::new().padding(Padding::Explicit([[1; 2]; 2]));
    let quantised = |gpu: &Gpu, (of, shape): &(Vec<f32>, &[usize])| {
        #[expect(clippy::cast_possible_truncation, reason = "at most 100")]
        let of: Vec<i8> = of.iter().map(|&of| of as i8).collect();
        gpu.tensor(&of, *shape)
    };
    let sums = |gpu: &Gpu, scales: ConvScales<'_>, bias: Option<&Tensor<f32>>| {
        let (x, weight) = (quantised(gpu, &x)?, quantised(gpu, &weight)?);
        conv2d_quantised::<f32>(&x, &weight, scales, bias, &options, Activation::None)
    };
    pair.same("sums of i8", |gpu| sums(gpu, ConvScales::default(), None));
    pair.same("scaled sums of i8 with a bias", |gpu| {
        let (bias, of_channel) = (gpu.tensor(&bias, [7])?, gpu.full([7], 0.25f32)?);
        sums(gpu, ConvScales { x: 0.5, weight: Some(&of_channel), out: None }, Some(&bias))
    });
    pair.same("requantised sums of i8", |gpu| {
        let (x, weight) = (quantised(gpu, &x)?, quantised(gpu, &weight)?);
        let scales = ConvScales { out: Some(512.0), ..ConvScales::default() };
        conv2d_quantised::<i8>(&x, &weight, scales, None, &options, Activation::Relu)?.cast::<f32>()
    });
}
