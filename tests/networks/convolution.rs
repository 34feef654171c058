//! Layers of convolutions and of transposed ones: forward and all gradients; blocks with a batch norm and an activation, in one launch.

use crate::oracle::Oracle;
use tilewise::conv::{
    BatchNorm2d, Conv2d, ConvBnAct, ConvOptions, ConvTranspose2d, Padding, fold_batch_norm,
};
use tilewise::ops::RunningStatistics;
use tilewise::{Activation, Gpu, Gradients, Real, Tensor};

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
    let name: String = oracle.parameter("activation");
    let activation = Activation::ALL.into_iter().find(|known| known.to_string() == name).unwrap();
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
