//! Layers of convolutions and of transposed ones: forward and all gradients; blocks with a batch norm and an activation, in one
//! launch and in training. `convolutions.py` writes the files of training.

use crate::oracle::Oracle;
use tilewise::conv::{
    BatchNorm2d, Conv2d, ConvAxis, ConvBnAct, ConvGeometry, ConvOptions, ConvTranspose2d, Padding, conv1d,
    conv3d, conv3d_backward, fold_batch_norm,
};
use tilewise::ops::RunningStatistics;
use tilewise::reference::{ConvEpilogueReference, ConvReference};
use tilewise::{Activation, Element, Gpu, Gradients, Real, Tensor};

/// A list of numbers among a file's parameters.
fn numbers<const N: usize>(oracle: &Oracle, key: &str) -> [usize; N] {
    let numbers: Vec<usize> = oracle.names(key).iter().map(|number| number.parse().unwrap()).collect();
    numbers.try_into().unwrap_or_else(|numbers| panic!("{oracle}: {key} is {numbers:?}"))
}

/// The stride, the dilation and the groups.
fn unpadded(oracle: &Oracle) -> ConvOptions {
    let options = ConvOptions::new().stride(numbers(oracle, "stride"));
    options.dilation(numbers(oracle, "dilation")).groups(oracle.parameter("groups"))
}

/// The options of a convolution.
fn options(oracle: &Oracle) -> ConvOptions {
    let [top, bottom, left, right] = numbers(oracle, "padding");
    unpadded(oracle).padding(Padding::Explicit([[top, bottom], [left, right]]))
}

fn bias<T: Real>(gpu: &Gpu, oracle: &mut Oracle) -> Option<Tensor<T>> {
    assert_eq!(oracle.has("bias"), oracle.parameter::<u8>("bias") == 1);
    oracle.has("bias").then(|| oracle.tensor(gpu, "bias"))
}

pub(crate) fn check<T: Real>(gpu: &Gpu, oracle: &mut Oracle) {
    let [x, weight] = ["x", "weight"].map(|name| oracle.tensor::<T>(gpu, name));
    let layer = Conv2d::new(weight, bias::<T>(gpu, oracle), options(oracle)).unwrap();
    oracle.assert_output("y", &layer.forward(&x).unwrap());
    let grad = oracle.tensor::<T>(gpu, "grad_y");
    assert_gradients(oracle, &layer.backward(&x, &grad).unwrap());
}

/// A training step of a block, or the gradients of one in evaluation, whose statistics stay.
pub(crate) fn training<T: Real>(gpu: &Gpu, oracle: &mut Oracle) {
    let [x, weight, gamma, beta, grad] =
        ["x", "weight", "gamma", "beta", "grad_y"].map(|name| oracle.tensor::<T>(gpu, name));
    let [mean, variance] = ["running_mean", "running_var"].map(|name| oracle.tensor::<f32>(gpu, name));
    let norm = BatchNorm2d::new(Some(gamma), Some(beta), RunningStatistics { mean, variance }).unwrap();
    let norm = norm.eps(oracle.parameter("eps")).momentum(Some(oracle.parameter("momentum")));
    let conv = Conv2d::new(weight, bias::<T>(gpu, oracle), options(oracle)).unwrap();
    let mut block = ConvBnAct::new(conv, norm, activation(oracle)).unwrap();
    let (y, (of_x, gradients)) = if oracle.parameter::<u8>("training") == 1 {
        let (y, saved) = block.training(&x).unwrap();
        (y, block.training_backward(&saved, &grad).unwrap())
    } else {
        (block.folded().unwrap().forward(&x).unwrap(), block.backward(&x, &grad).unwrap())
    };
    oracle.assert_output("y", &y);
    oracle.assert_output("grad_x", &of_x);
    oracle.assert_output("running_mean_after", &block.norm().running().mean);
    oracle.assert_output("running_var_after", &block.norm().running().variance);
    let names =
        [("weight", "conv.weight"), ("bias", "conv.bias"), ("gamma", "bn.weight"), ("beta", "bn.bias")];
    for (of_file, of_layer) in names {
        let (name, found) = (format!("grad_{of_file}"), gradients.get(of_layer));
        assert_eq!(found.is_some(), oracle.has(&name), "{oracle}: {name}");
        if let Some(found) = found {
            oracle.assert_output(&name, found);
        }
    }
}

fn activation(oracle: &Oracle) -> Activation {
    let name: String = oracle.parameter("activation");
    Activation::ALL.into_iter().find(|known| known.to_string() == name).unwrap()
}

pub(crate) fn transposed<T: Real>(gpu: &Gpu, oracle: &mut Oracle) {
    let [x, weight, grad] = ["x", "weight", "grad_y"].map(|name| oracle.tensor::<T>(gpu, name));
    let bias = oracle.tensor::<T>(gpu, "bias");
    let [height, width] = numbers(oracle, "padding");
    let options = unpadded(oracle).padding(Padding::Explicit([[height; 2], [width; 2]]));
    let layer = ConvTranspose2d::new(weight, Some(bias), options).unwrap();
    let layer = layer.output_padding(numbers(oracle, "output_padding"));
    oracle.assert_output("y", &layer.forward(&x).unwrap());
    assert_gradients(oracle, &layer.backward(&x, &grad).unwrap());
}

pub(crate) fn sequence<T: Real>(gpu: &Gpu, oracle: &mut Oracle) {
    assert_definition::<1>(oracle);
    let [x, weight, bias, grad] = ["x", "weight", "bias", "grad_y"].map(|name| oracle.tensor::<T>(gpu, name));
    let [[stride], [dilation], [padding]] = ["stride", "dilation", "padding"].map(|key| numbers(oracle, key));
    let options = ConvOptions::new().stride([1, stride]).dilation([1, dilation]);
    let options =
        options.padding(Padding::Explicit([[0; 2], [padding; 2]])).groups(oracle.parameter("groups"));
    oracle.assert_output("y", &conv1d(&x, &weight, Some(&bias), &options).unwrap());
    let [x, weight, grad] = [x, weight, grad].map(|of| of.unsqueeze(1).unwrap());
    let layer = Conv2d::new(weight, Some(bias), options).unwrap();
    assert_gradients(oracle, &layer.backward(&x, &grad).unwrap());
}

/// A convolution of volumes with all of its gradients.
pub(crate) fn volume<T: Real>(gpu: &Gpu, oracle: &mut Oracle) {
    assert_definition::<3>(oracle);
    let [x, weight, bias, grad] = ["x", "weight", "bias", "grad_y"].map(|name| oracle.tensor::<T>(gpu, name));
    let [stride, dilation, padding] = ["stride", "dilation", "padding"].map(|key| numbers::<3>(oracle, key));
    let padding = Padding::Explicit(padding.map(|of| [of; 2]));
    let options = ConvOptions::new().stride(stride).dilation(dilation).padding(padding);
    let options = options.groups(oracle.parameter("groups"));
    oracle.assert_output("y", &conv3d(&x, &weight, Some(&bias), &options).unwrap());
    assert_gradients(oracle, &conv3d_backward(&x, &weight, Some(&bias), &options, &grad).unwrap());
}

/// The crate's definition is PyTorch's, for `D` axes with the same padding on both sides of each.
fn assert_definition<const D: usize>(oracle: &mut Oracle) {
    let [(input, x), (kernel, weight), (_, bias), (result, grad)] =
        ["x", "weight", "bias", "grad_y"].map(|name| oracle.values(name));
    let options = ["stride", "dilation", "padding"].map(|key| numbers::<D>(oracle, key));
    let axes: [ConvAxis; D] = std::array::from_fn(|axis| {
        let [input, taps, output] = [&input, &kernel, &result].map(|shape| shape[axis + 1]);
        let [stride, dilation, before] = options.map(|of| of[axis]);
        ConvAxis { input, output, taps, stride, dilation, before, after: before }
    });
    let (channels, outputs, groups) = (input[D + 1], kernel[0], oracle.parameter("groups"));
    let reference =
        ConvReference { geometry: ConvGeometry { batch: input[0], channels, outputs, groups, axes } };
    let [x, weight, grad] =
        [x, weight, grad].map(|of| of.into_iter().map(f32::from_f64).collect::<Vec<f32>>());
    let epilogue = ConvEpilogueReference { bias: Some(bias), ..ConvEpilogueReference::default() };
    let found = [
        ("y", reference.forward(&x, &weight, &epilogue)),
        ("grad_x", reference.input_gradient(&grad, &weight)),
        ("grad_weight", reference.weight_gradient(&x, &grad)),
        ("grad_bias", reference.bias_gradient(&grad)),
    ];
    for (name, found) in found {
        let (_, want) = oracle.values(name);
        // Two sums in f64, of fewer than 2^10 products below 4 each.
        let tolerance = 2.0 * f64::EPSILON * 4.0 * f64::from(1 << 20);
        let is_right = found.value.iter().zip(&want).all(|(found, want)| (found - want).abs() <= tolerance);
        assert!(is_right && found.value.len() == want.len(), "{oracle}: the definition of {name}");
    }
}

fn assert_gradients<T: Real>(oracle: &mut Oracle, (of_x, gradients): &(Tensor<T>, Gradients)) {
    oracle.assert_output("grad_x", of_x);
    for (name, found) in ["weight", "bias"].map(|name| (format!("grad_{name}"), gradients.get(name))) {
        assert_eq!(found.is_some(), oracle.has(&name), "{oracle}: {name}");
        if let Some(found) = found {
            oracle.assert_output(&name, found);
        }
    }
}

pub(crate) fn block<T: Real>(gpu: &Gpu, oracle: &mut Oracle) {
    let [x, weight] = ["x", "weight"].map(|name| oracle.tensor::<T>(gpu, name));
    let bias = bias::<T>(gpu, oracle);
    let [gamma, beta, mean, variance] =
        ["gamma", "beta", "running_mean", "running_var"].map(|name| oracle.tensor::<f32>(gpu, name));
    let activation = activation(oracle);
    let (running, eps) = (RunningStatistics { mean, variance }, oracle.parameter("eps"));
    let conv = Conv2d::new(weight.clone(), bias.clone(), options(oracle)).unwrap();
    let [weights, biases] = [&gamma, &beta].map(|of| Some(of.cast::<T>().unwrap()));
    let norm = BatchNorm2d::new(weights, biases, running.clone()).unwrap().eps(eps);
    for (name, activation) in [("y_before_activation", Activation::None), ("y", activation)] {
        let folded = ConvBnAct::new(conv.clone(), norm.clone(), activation).unwrap().folded().unwrap();
        let launches = gpu.stats().launches;
        let y = folded.forward(&x).unwrap();
        assert_eq!(gpu.stats().launches - launches, 1, "{oracle}");
        oracle.assert_output(name, &y);
    }
    let (folded, shift) =
        fold_batch_norm(&weight, bias.as_ref(), &running, Some(&gamma), Some(&beta), eps).unwrap();
    oracle.assert_output("weight_folded", &folded);
    oracle.assert_output("bias_folded", &shift);
}
