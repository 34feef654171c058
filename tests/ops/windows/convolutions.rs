//! Convolutions of many images, and their gradients.

use super::{Pair, joined, place};
use support::strided::Lay;
use support::values::values;
use tilewise::conv::{ConvOptions, Convolution, Padding, conv_transpose2d, conv2d_backward};

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
