//! Sketched convolutions: fitted to trained kernels, random, and in files.

use crate::spectrum::{normal, place};
use support::failure::{Kind, fails, says};
use tilewise::conv::{Conv2d, ConvOptions, Padding, conv2d};
use tilewise::io::{Safetensors, SafetensorsWriter};
use tilewise::sketch::{Budget, SkConv2d, SkLinear, recommend_rank};
use tilewise::{Error, Fill, Gpu, Parameters, Tensor, f16, matmul, ops};

const CHANNELS: usize = 6;
const OUTPUTS: usize = 40;
const WINDOW: usize = 9 * CHANNELS;

fn same() -> ConvOptions {
    ConvOptions::new().padding(Padding::Explicit([[1, 1], [1, 1]]))
}

/// A convolution with a random kernel of 3 x 3 taps, of this rank.
fn conv(gpu: &Gpu, rank: usize) -> Conv2d<f32> {
    let of = |shape, seed| gpu.random::<f32>(shape, Fill::Normal, seed).unwrap();
    let matrix = matmul(&of([OUTPUTS, rank], 1), &of([rank, WINDOW], 2)).unwrap();
    let bias = gpu.random([OUTPUTS], Fill::Uniform, 3).unwrap();
    Conv2d::new(matrix.reshape([OUTPUTS, 3, 3, CHANNELS]).unwrap(), Some(bias), same()).unwrap()
}

fn images(gpu: &Gpu, seed: u64) -> Tensor<f32> {
    gpu.random([2, 5, 6, CHANNELS], Fill::Normal, seed).unwrap()
}

/// The norm of the difference over that of the second.
fn relative(a: &Tensor<f32>, b: &Tensor<f32>) -> f64 {
    let norm =
        |x: &Tensor<f32>| x.to_vec().unwrap().iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
    norm(&ops::sub(a, b).unwrap()) / norm(b)
}

#[test]
fn a_fit_is_exact_for_a_kernel_of_its_rank_and_the_best_for_others() {
    let Some(gpu) = support::gpu() else { return };
    let builder = SkConv2d::builder().terms(2).rank(3);
    let (x, low) = (images(&gpu, 4), conv(&gpu, 12));
    let fitted = builder.clone().fit(&low).unwrap();
    assert!(fitted.weight_rel_error < 1e-5, "{}", fitted.weight_rel_error);
    let off = relative(&fitted.layer.forward(&x).unwrap(), &low.forward(&x).unwrap());
    assert!(off < 1e-5, "{off}");
    // Its errors are those of a sketched layer of the kernel as a matrix.
    let full = conv(&gpu, 60);
    let matrix = full.weight().reshape([OUTPUTS, WINDOW]).unwrap();
    let [own, linear] = [
        builder.clone().fit(&full).unwrap().weight_rel_error,
        SkLinear::builder(2, 3).fit(&matrix).unwrap().weight_rel_error,
    ];
    assert!((own - linear).abs() < 1e-6 && (0.1..0.9).contains(&own), "{own}, {linear}");
    // Fitted to images, it is no worse on them.
    let to_images = builder.clone().fit_to(&full, &x).unwrap();
    let without =
        |layer: &SkConv2d<f32>| ops::sub(&layer.forward(&x).unwrap(), full.bias().unwrap()).unwrap();
    let y = conv2d(&x, full.weight(), None, &same()).unwrap();
    let [of_images, of_weight] =
        [&to_images.layer, &builder.fit(&full).unwrap().layer].map(|layer| relative(&without(layer), &y));
    assert!((to_images.output_rel_error.unwrap() - of_images).abs() < 1e-4);
    assert!(of_images < of_weight, "{of_images}, {of_weight}");
}

/// With signs, the map from the kernel to the layer's weight is the identity plus entries of variance 1 / 2TR off the diagonal.
#[test]
fn a_layer_of_panther_has_the_error_of_its_signs() {
    let Some(gpu) = support::gpu() else { return };
    let full = conv(&gpu, 60);
    let made = SkConv2d::builder().terms(1).rank(8).seed(5).panther(&full).unwrap();
    let want = ((OUTPUTS - 1) as f64 / 16.0).sqrt();
    assert!((made.weight_rel_error / want - 1.0).abs() < 0.15, "{}, not {want}", made.weight_rel_error);
    let own = relative(&made.layer.to_weight().unwrap(), full.weight());
    assert!((own - made.weight_rel_error).abs() < 1e-4, "{own}");
    assert_eq!(made.layer.bias().unwrap().to_vec().unwrap(), full.bias().unwrap().to_vec().unwrap());
    // Panther's defaults have 96 hidden channels, more than this convolution has outputs.
    says(SkConv2d::from_conv(&full), &["^SkConv2d::from_conv: saves nothing", "terms = 6 and rank = 8"]);
    let [inner, window, outputs] = [96, 9 * 192, 192];
    let large = Conv2d::<f32>::random(&gpu, [192, 192], [3, 3], same(), 1).unwrap();
    let layer = SkConv2d::from_conv(&large).unwrap().layer;
    assert_eq!((layer.terms(), layer.rank(), layer.params()), (6, 8, inner * (window + outputs)));
}

#[test]
fn a_random_layer_has_the_variance_of_a_new_convolution() {
    let Some(gpu) = support::gpu() else { return };
    let x = images(&gpu, 4);
    let variance = |y: &Tensor<f32>, bias: &Tensor<f32>| {
        let y = ops::sub(y, bias).unwrap().to_vec().unwrap();
        y.iter().map(|&y| f64::from(y).powi(2)).sum::<f64>() / y.len() as f64
    };
    let dense = Conv2d::random(&gpu, [CHANNELS, OUTPUTS], [3, 3], same(), 7).unwrap();
    let layer = SkConv2d::builder().terms(2).rank(4).seed(6).random(&gpu, [CHANNELS, OUTPUTS]).unwrap();
    let ratio = variance(&layer.forward(&x).unwrap(), layer.bias().unwrap())
        / variance(&dense.forward(&x).unwrap(), dense.bias().unwrap());
    assert!((0.75..1.33).contains(&ratio), "{ratio}");
    let of_f16 = layer.cast::<f16>().unwrap().forward(&x.cast().unwrap()).unwrap().cast::<f32>().unwrap();
    let off = relative(&of_f16, &layer.forward(&x).unwrap());
    assert!(off < 2e-3, "{off}");
    let file = layer.save(SafetensorsWriter::new(), "of.").unwrap().to_bytes().unwrap();
    let file = Safetensors::from_bytes(file).unwrap();
    assert_eq!(file.shape("of.S1s").unwrap(), [16, CHANNELS, 3, 3]);
    assert_eq!(file.shape("of.U1s").unwrap(), [4, 4, OUTPUTS]);
    let loaded = SkConv2d::<f32>::load(&file, &gpu, "of.", same()).unwrap();
    for ((name, own), (_, of)) in layer.parameters().into_iter().zip(loaded.parameters()) {
        assert_eq!((own.shape(), own.to_vec().unwrap()), (of.shape(), of.to_vec().unwrap()), "{name}");
    }
    assert_eq!(loaded.forward(&x).unwrap().to_vec().unwrap(), layer.forward(&x).unwrap().to_vec().unwrap());
}

#[test]
fn advice_on_ranks_is_that_of_the_kernel_as_a_matrix() {
    let Some(gpu) = support::gpu() else { return };
    let (weight, _) = place(&gpu, &normal([OUTPUTS, WINDOW], 9));
    let conv = Conv2d::new(weight.reshape([OUTPUTS, 3, 3, CHANNELS]).unwrap(), None, same()).unwrap();
    let found = SkConv2d::recommend_rank(&conv, Budget::Params(0.5)).unwrap();
    assert_eq!(found, recommend_rank(&weight, Budget::Params(0.5)).unwrap());
    let layer = SkConv2d::builder().terms(found.terms).rank(found.rank).fit(&conv).unwrap();
    assert_eq!((layer.layer.params(), layer.layer.dense_params()), (found.params, found.dense_params));
    assert!((layer.weight_rel_error - found.rel_error).abs() < 0.01);
}

#[test]
fn what_makes_no_sketched_convolution_is_said() {
    let gpu = support::noop();
    let [s, u] = [[8, 3, 3, 2], [2, 4, 5, 1]].map(|shape| gpu.zeros::<f32>(shape).unwrap());
    let u = u.reshape([2, 4, 5]).unwrap();
    let made = |s: &Tensor<f32>, u: &Tensor<f32>, options| SkConv2d::from_factors(s, u, None, options);
    assert!(made(&s, &u, same()).is_ok());
    let [odd, flat] = [u.reshape([1, 8, 5]).unwrap(), s.reshape([8, 18]).unwrap()];
    for (s, u) in [(&s, &odd), (&flat, &u), (&s, &flat), (&gpu.zeros([6, 3, 3, 2]).unwrap(), &u)] {
        fails(made(s, u, same()), Kind::Shape, &["^SkConv2d::from_factors: S must be (2TR, height"]);
    }
    let grouped = same().groups(2);
    fails(made(&s, &u, grouped), Kind::Input, &["^SkConv2d::from_factors: the number of groups"]);
    let builder = SkConv2d::<f32>::builder().allow_larger();
    fails(builder.clone().options(grouped).random(&gpu, [4, 8]), Kind::Input, &["the number of groups"]);
    fails(builder.clone().rank(0).random(&gpu, [4, 8]), Kind::Shape, &["^SkConv2d::random:", "rank"]);
    fails(builder.rank(9).random(&gpu, [4, 8]), Kind::Shape, &["^SkConv2d::random:", "rank"]);
    let conv = Conv2d::<f32>::random(&gpu, [4, 8], [3, 3], grouped, 1).unwrap();
    let error = says(SkConv2d::from_conv(&conv), &["^SkConv2d::from_conv: the number of groups"]);
    assert!(matches!(error, Error::Input { .. }));
    let layer = made(&s, &u, same()).unwrap();
    let [x, grad] = [[1, 4, 4, 2], [1, 4, 4, 6]].map(|shape| gpu.zeros::<f32>(shape).unwrap());
    fails(layer.backward(&x, &grad), Kind::Shape, &["^SkConv2d::backward: the gradient must have the shape"]);
    fails(layer.forward(&grad), Kind::Shape, &["^SkConv2d::forward: the channels of the weight"]);
}
