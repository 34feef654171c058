//! Convolutions, their gradients, and batch norms to fold.

use crate::words::said::Said;
use tilewise::conv::{
    ConvOptions, Convolution, Padding, SamePadding, batch_norm_terms, conv_transpose2d,
    conv_transpose2d_backward, conv2d, conv2d_backward, fold_batch_norm,
};
use tilewise::ops::RunningStatistics;

#[test]
fn operands_of_convolutions_that_do_not_fit() {
    let mut said = Said::new();
    let [x, weight] = [[2, 6, 7, 8], [4, 3, 3, 8]].map(|shape| said.tensor(&shape));
    let options = ConvOptions::new();
    for shape in [&[6, 7, 8][..], &[2, 6, 7, 9], &[2, 8, 6, 7], &[2, 0, 7, 8], &[2, 6, 7, 0], &[2, 2, 7, 8]] {
        let images = said.tensor(shape);
        said.says(|| conv2d(&images, &weight, None, &options));
    }
    for shape in [&[4, 8][..], &[4, 8, 3, 3], &[4, 3, 0, 8], &[4, 7, 3, 8], &[4, 3, 3, 2]] {
        let kernels = said.tensor(shape);
        said.says(|| conv2d(&x, &kernels, None, &options));
    }
    let both = said.tensor(&[2, 8, 6, 7]);
    let first = said.tensor(&[4, 8, 3, 3]);
    said.says(|| conv2d(&both, &first, None, &options));
    for wrong in [
        options.stride([1, 0]),
        options.dilation([0, 1]),
        options.dilation([1, 4]), // the kernel is nine columns wide
        options.groups(0),
        options.groups(3),
        options.groups(8),
        options.padding(Padding::Explicit([[usize::MAX, 1], [0, 0]])),
        options.padding(Padding::Explicit([[0, 0], [0, 1 << 30]])),
        options.padding(Padding::Explicit([[1 << 29; 2]; 2])).dilation([1 << 29, 1]),
        options.padding(Padding::Same(SamePadding::ExtraAtEnd)).dilation([1, usize::MAX]),
    ] {
        said.says(|| conv2d(&x, &weight, None, &wrong));
    }
    let (wrong, right, residual) = (said.tensor(&[3]), said.tensor(&[4]), said.tensor(&[2, 4, 5, 8]));
    let convolution = Convolution::new(&x, &weight);
    said.says(|| convolution.bias(&wrong).run());
    said.says(|| convolution.scale_shift(&right, &wrong).run());
    said.says(|| convolution.residual(&residual).run());
    let none = said.tensor(&[0, 6, 7, 8]);
    said.says(|| Convolution::new(&none, &weight).plan());
    said.says(|| conv2d(&none, &weight, Some(&wrong), &options));
    // More windows than 64 bits count.
    let (many, pixel) = (said.tensor(&[17, 1, 1, 4]), said.tensor(&[4, 1, 1, 4]));
    let far = options.padding(Padding::Explicit([[(1 << 29) - 1; 2]; 2]));
    said.says(|| conv2d(&many, &pixel, None, &far));
    said.compare();
}

#[test]
fn gradients_and_transposed_convolutions_that_do_not_fit() {
    let mut said = Said::new();
    let [x, weight, grad] = [[2, 6, 7, 8], [4, 3, 3, 8], [2, 4, 5, 4]].map(|shape| said.tensor(&shape));
    let (options, wrong, turned) = (ConvOptions::new(), said.tensor(&[3]), said.tensor(&[8, 3, 3, 4]));
    said.says(|| conv2d_backward(&x, &weight, None, &options, &x));
    said.says(|| conv2d_backward(&x, &weight, Some(&wrong), &options, &grad));
    said.says(|| conv2d_backward(&x, &weight, None, &options.groups(2), &grad));
    said.says(|| conv_transpose2d(&x, &weight, None, &options, [0, 0]));
    let (flat, first) = (said.tensor(&[8, 4]), said.tensor(&[2, 8, 6, 7]));
    said.says(|| conv_transpose2d(&x, &flat, None, &options, [0, 0]));
    said.says(|| conv_transpose2d(&first, &turned, None, &options, [0, 0]));
    said.says(|| conv_transpose2d(&x, &turned, Some(&wrong), &options, [0, 0]));
    said.says(|| conv_transpose2d(&x, &turned, None, &options, [1, 0]));
    said.says(|| conv_transpose2d(&x, &turned, None, &options.stride([2, 2]), [0, 2]));
    let same = options.stride([2, 2]).padding(Padding::Same(SamePadding::ExtraAtEnd));
    said.says(|| conv_transpose2d(&x, &turned, None, &same, [1, 0]));
    let all = options.padding(Padding::Explicit([[4; 2]; 2]));
    said.says(|| conv_transpose2d(&x, &turned, None, &all, [0, 0]));
    said.says(|| conv_transpose2d(&x, &turned, None, &options.groups(3), [0, 0]));
    said.says(|| conv_transpose2d(&x, &turned, None, &options.stride([1 << 29, 1]), [0, 0]));
    said.says(|| conv_transpose2d_backward(&x, &turned, None, &options, [0, 0], &grad));
    said.compare();
}

#[test]
fn batch_norms_that_cannot_be_folded() {
    let mut said = Said::new();
    let [mean, variance, other] = [4, 4, 3].map(|channels| said.tensor(&[channels]));
    let (weight, matrix) = (said.tensor(&[5, 1, 1, 2]), said.tensor(&[4, 2]));
    let uneven = RunningStatistics { mean: mean.clone(), variance: other.clone() };
    said.says(|| batch_norm_terms(&uneven, None, None, 1e-5));
    let square = RunningStatistics { mean: matrix.clone(), variance: matrix.clone() };
    said.says(|| batch_norm_terms(&square, None, None, 1e-5));
    let running = RunningStatistics { mean, variance };
    said.says(|| batch_norm_terms(&running, Some(&other), None, 1e-5));
    said.says(|| batch_norm_terms(&running, None, None, -1.0));
    said.says(|| batch_norm_terms(&running, None, None, f32::NAN));
    said.says(|| fold_batch_norm(&weight, None, &running, None, None, 1e-5));
    said.says(|| fold_batch_norm(&matrix, None, &running, None, None, 1e-5));
    said.compare();
}
