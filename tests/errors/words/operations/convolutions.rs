//! Convolutions, their gradients, batch norms to fold, and layers of them.

use crate::words::said::Said;
use tilewise::conv::{
    BatchNorm2d, ChannelsFirst, Conv2d, ConvBnAct, ConvOptions, ConvScales, ConvTranspose2d, Convolution,
    Padding, SamePadding, batch_norm_terms, conv_transpose2d, conv_transpose2d_backward, conv1d, conv2d,
    conv2d_backward, conv2d_quantised, conv3d, conv3d_backward, fold_batch_norm,
};
use tilewise::ops::RunningStatistics;
use tilewise::{Activation, F8E4M3, Gradients};

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
fn volumes_that_do_not_fit() {
    let mut said = Said::new();
    let [x, weight] = [[2, 5, 6, 7, 8], [4, 3, 3, 3, 8]].map(|shape| said.tensor(&shape));
    let options = ConvOptions::new();
    for shape in [
        &[6, 7, 8][..],
        &[2, 6, 7, 8],
        &[2, 5, 6, 7, 9],
        &[2, 8, 5, 6, 7],
        &[2, 0, 6, 7, 8],
        &[2, 2, 6, 7, 8],
    ] {
        let volumes = said.tensor(shape);
        said.says(|| conv3d(&volumes, &weight, None, &options));
    }
    for shape in [&[4, 3, 3, 8][..], &[4, 8, 3, 3, 3], &[4, 3, 0, 3, 8], &[4, 3, 3, 3, 2]] {
        let kernels = said.tensor(shape);
        said.says(|| conv3d(&x, &kernels, None, &options));
    }
    let (both, first) = (said.tensor(&[2, 8, 5, 6, 7]), said.tensor(&[4, 8, 3, 3, 3]));
    said.says(|| conv3d(&both, &first, None, &options));
    for wrong in [
        options.stride([0, 1, 1]),
        options.dilation([1, 0, 1]),
        options.dilation([3, 1, 1]), // the kernel is seven planes deep
        options.groups(0),
        options.groups(3),
        options.padding(Padding::Explicit([[0, 1 << 30], [0, 0], [0, 0]])),
    ] {
        said.says(|| conv3d(&x, &weight, None, &wrong));
    }
    let (wrong, residual) = (said.tensor(&[3]), said.tensor(&[2, 3, 4, 5, 8]));
    let convolution = Convolution::of_volumes(&x, &weight);
    said.says(|| convolution.bias(&wrong).run());
    said.says(|| convolution.residual(&residual).run());
    let none = said.tensor(&[0, 5, 6, 7, 8]);
    said.says(|| Convolution::of_volumes(&none, &weight).plan());
    // More lines of taps than kernels divide.
    let (deep, taps) = (said.tensor(&[1, 1, 1, 1, 1]), said.tensor(&[1, 1 << 11, 1 << 10, 1, 1]));
    let same = options.padding(Padding::Same(SamePadding::ExtraAtEnd));
    said.says(|| conv3d(&deep, &taps, None, &same));
    // More elements of a window than kernels divide, and distances that 15 bits do not hold.
    let (pixel, long) = (said.tensor(&[1, 1, 1, 1, 8]), said.tensor(&[1, 2, 1, (1 << 17) + 1, 8]));
    said.says(|| conv3d(&pixel, &long, None, &same));
    let two = said.tensor(&[1, 2, 1, 1, 8]);
    let far = options.padding(Padding::Explicit([[0, 1 << 15], [0, 0], [0, 0]]));
    said.says(|| conv3d(&pixel, &two, None, &far.stride([1 << 15, 1, 1])));
    said.says(|| conv3d(&pixel, &two, None, &far.dilation([1 << 15, 1, 1])));
    // More pixels than a quotient counts.
    let (many, one) = (said.tensor(&[1, 2, 1, (1 << 23) + 1, 1]), said.tensor(&[1, 2, 1, 2, 1]));
    said.says(|| conv3d_backward(&many, &one, None, &same, &many));
    let grad = said.tensor(&[2, 3, 4, 5, 4]);
    said.says(|| conv3d_backward(&x, &weight, None, &options, &x));
    said.says(|| conv3d_backward(&x, &weight, Some(&wrong), &options, &grad));
    said.compare();
}

#[test]
fn sequences_that_do_not_fit() {
    let mut said = Said::new();
    let [x, weight] = [[2, 7, 8], [4, 3, 8]].map(|shape| said.tensor(&shape));
    let options = ConvOptions::new();
    for shape in [&[7, 8][..], &[2, 7, 9], &[2, 8, 7], &[2, 0, 8], &[2, 2, 8]] {
        let sequences = said.tensor(shape);
        said.says(|| conv1d(&sequences, &weight, None, &options));
    }
    for shape in [&[4, 8][..], &[4, 8, 3], &[4, 0, 8], &[4, 8, 8]] {
        let kernels = said.tensor(shape);
        said.says(|| conv1d(&x, &kernels, None, &options));
    }
    let wrong = said.tensor(&[3]);
    said.says(|| conv1d(&x, &weight, Some(&wrong), &options));
    said.says(|| conv1d(&x, &weight, None, &options.groups(0)));
    said.says(|| conv1d(&x, &weight, None, &options.groups(3)));
    said.says(|| conv1d(&x, &weight, None, &options.stride([1, 0])));
    for rows in [[0, 1], [1, 0]] {
        said.says(|| conv1d(&x, &weight, None, &options.padding(Padding::Explicit([rows, [1, 1]]))));
    }
    said.compare();
}

#[test]
fn convolutions_of_i8_that_do_not_fit() {
    let mut said = Said::new();
    let zeros = |of: [usize; 4]| said.gpu.zeros::<i8>(of).unwrap();
    let (x, weight, other) = (zeros([2, 6, 7, 8]), zeros([4, 3, 3, 8]), zeros([4, 3, 3, 9]));
    let (long, of_long) = (zeros([1, 1, 1, 1 << 17]), zeros([4, 1, 1, 1 << 17]));
    let [wrong, right] = [3, 4].map(|outputs| said.tensor(&[outputs]));
    let (options, plain, none) = (ConvOptions::new(), ConvScales::default(), Activation::None);
    let scales = |weight| ConvScales { weight: Some(weight), ..plain };
    let out = |scale| ConvScales { out: Some(scale), ..plain };
    said.says(|| conv2d_quantised::<i32>(&x, &other, plain, None, &options, none));
    said.says(|| conv2d_quantised::<i32>(&long, &of_long, plain, None, &options, none));
    said.says(|| conv2d_quantised::<F8E4M3>(&x, &weight, plain, None, &options, none));
    said.says(|| conv2d_quantised::<f32>(&x, &weight, plain, Some(&wrong), &options, none));
    said.says(|| conv2d_quantised::<f32>(&x, &weight, scales(&wrong), None, &options, none));
    said.says(|| conv2d_quantised::<f32>(&x, &weight, out(1.0), None, &options, none));
    said.says(|| conv2d_quantised::<i8>(&x, &weight, out(0.0), None, &options, none));
    for (scales, bias, activation) in [
        (scales(&right), None, none),
        (ConvScales { x: 0.5, ..plain }, None, none),
        (plain, Some(&right), none),
        (plain, None, Activation::Relu),
    ] {
        said.says(|| conv2d_quantised::<i32>(&x, &weight, scales, bias, &options, activation));
    }
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

#[test]
fn layers_of_images_that_do_not_fit() {
    let mut said = Said::new();
    let [x, weight, matrix, vector] =
        [&[2, 6, 7, 8][..], &[4, 3, 3, 8], &[4, 8], &[3]].map(|shape| said.tensor(shape));
    let (gpu, options) = (x.gpu().clone(), ConvOptions::new());
    said.says(|| Conv2d::new(matrix.clone(), None, options));
    said.says(|| Conv2d::new(weight.clone(), Some(vector.clone()), options));
    said.says(|| ConvTranspose2d::new(matrix.clone(), None, options));
    said.says(|| ConvTranspose2d::new(weight.clone(), Some(vector.clone()), options));
    said.says(|| Conv2d::<f32>::random(&gpu, [8, 0], [3, 3], options, 1));
    said.says(|| Conv2d::<f32>::random(&gpu, [8, 4], [3, 0], options, 1));
    said.says(|| Conv2d::<f32>::random(&gpu, [8, 4], [3, 3], options.groups(3), 1));
    said.says(|| ConvTranspose2d::<f32>::random(&gpu, [8, 4], [3, 3], options.groups(0), 1));
    let layer = Conv2d::new(weight.clone(), None, options).unwrap();
    said.says(|| layer.forward(&weight.permute(&[0, 3, 1, 2]).unwrap()));
    said.says(|| layer.backward(&x, &x));
    let mut gradients = Gradients::new();
    gradients.add("bias", vector.clone()).unwrap();
    said.says(|| layer.backward_into(&x, &x, &mut gradients));
    let transposed = ConvTranspose2d::new(weight.clone(), None, options).unwrap();
    said.says(|| transposed.forward(&x));
    let running = RunningStatistics { mean: vector.clone(), variance: said.tensor(&[3]) };
    said.says(|| BatchNorm2d::new(Some(vector.slice(0, 1..).unwrap()), None, running.clone()));
    let square = RunningStatistics { mean: matrix.clone(), variance: matrix.clone() };
    said.says(|| BatchNorm2d::<f32>::new(None, None, square));
    let mut norm = BatchNorm2d::<f32>::new(None, None, running).unwrap();
    said.says(|| norm.forward(&x));
    said.says(|| norm.training(&x));
    said.says(|| norm.clone().eps(-1.0).terms());
    said.says(|| norm.clone().momentum(Some(f32::NAN)).forward(&x));
    said.says(|| ConvBnAct::new(layer.clone(), norm.clone(), Activation::Relu));
    let four = BatchNorm2d::untrained(&gpu, 4).unwrap();
    let block = ConvBnAct::new(layer, four, Activation::Relu).unwrap();
    said.says(|| block.backward(&x, &x));
    let folded = block.folded().unwrap();
    said.says(|| folded.forward(&matrix));
    said.says(|| ChannelsFirst::new(&vector).to_channels_last());
    said.says(|| ChannelsFirst::new(&vector).plan());
    said.compare();
}
