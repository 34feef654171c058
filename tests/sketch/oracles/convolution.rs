//! What Panther's own code computed of sketched convolutions, in f64 of operands of f32.

use support::oracles::assert_near;
use support::safetensors::Safetensors;
use tilewise::conv::{ChannelsFirst, ConvOptions, Padding, conv2d};
use tilewise::sketch::SkConv2d;
use tilewise::{Element, Gpu, Tensor, matmul};

/// Relative to the largest value: the vectors' README says it.
const F32: f64 = 2e-6;

fn tensor(gpu: &Gpu, file: &Safetensors, name: &str) -> Tensor<f32> {
    let (shape, values) = file.reals(name);
    gpu.tensor(&values.into_iter().map(f32::from_f64).collect::<Vec<_>>(), shape).unwrap()
}

/// Images or kernels of a file, channels last.
fn channels_last(gpu: &Gpu, file: &Safetensors, name: &str) -> Tensor<f32> {
    ChannelsFirst::new(&tensor(gpu, file, name)).to_channels_last().unwrap()
}

fn near(found: &Tensor<f32>, file: &Safetensors, name: &str, what: &str) {
    let (shape, want) = file.reals(name);
    assert_eq!(found.shape(), shape, "{what}: {name}");
    let largest = want.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    let found: Vec<f64> = found.to_vec().unwrap().into_iter().map(f64::from).collect();
    assert_near(&found, &want, F32 * largest, &format!("{what}: {name}"));
}

/// The same for images or kernels, which files hold channels first.
fn near_images(found: &Tensor<f32>, file: &Safetensors, name: &str, what: &str) {
    near(&ChannelsFirst::from_channels_last(found).unwrap(), file, name, what);
}

/// A pair of numbers among a file's parameters, or one number for both.
fn pair(file: &Safetensors, key: &str) -> [usize; 2] {
    let text = file.metadata(key).unwrap_or_else(|| panic!("no {key}"));
    let numbers: Vec<usize> =
        text.trim_matches(|c| "()".contains(c)).split(", ").map(|n| n.parse().unwrap()).collect();
    [numbers[0], numbers[numbers.len() - 1]]
}

pub(crate) fn skconv2d(gpu: &Gpu, file: &Safetensors, name: &str) {
    let [height, width] = pair(file, "padding");
    let options = ConvOptions::new().stride(pair(file, "stride"));
    let options = options.padding(Padding::Explicit([[height; 2], [width; 2]]));
    let [s, x] = ["S1s", "x"].map(|part| channels_last(gpu, file, part));
    let [u, bias] = ["U1s", "bias"].map(|part| tensor(gpu, file, part));
    let layer = SkConv2d::from_factors(&s, &u, Some(&bias), options).unwrap();
    assert_eq!([2 * layer.terms(), layer.rank()], u.shape()[..2], "{name}");
    near_images(&layer.forward(&x).unwrap(), file, "y", name);
    let mut names = vec!["S1s", "U1s", "bias", "x", "y"];
    if file.names().iter().any(|part| part == "weight") {
        // S is the weight, sketched.
        let weight = tensor(gpu, file, "weight");
        let outputs = weight.shape()[0];
        let [u, taps] =
            [u.reshape([u.len() / outputs, outputs]), weight.reshape([outputs, weight.len() / outputs])];
        let sketched = matmul(&u.unwrap(), &taps.unwrap()).unwrap();
        near(&sketched.reshape(file.reals("S1s").0).unwrap(), file, "S1s", name);
        let dense = conv2d(&x, &channels_last(gpu, file, "weight"), Some(&bias), &options).unwrap();
        near_images(&dense, file, "y_dense", name);
        names.extend(["weight", "y_dense"]);
    } else {
        near_images(&layer.to_weight().unwrap(), file, "dense_kernel", name);
        let (of_x, gradients) = layer.backward(&x, &channels_last(gpu, file, "g")).unwrap();
        near_images(&of_x, file, "grad_x", name);
        near_images(gradients.get("S1s").unwrap(), file, "grad_S1s", name);
        near(gradients.get("bias").unwrap(), file, "grad_bias", name);
        names.extend(["dense_kernel", "g", "grad_x", "grad_S1s", "grad_bias"]);
    }
    let unchecked: Vec<_> = file.names().into_iter().filter(|part| !names.contains(&part.as_str())).collect();
    assert!(unchecked.is_empty(), "{name}: nothing checks {unchecked:?}");
}
