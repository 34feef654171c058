//! Convolutions and transposed convolutions: forward and all gradients; blocks with a batch norm and an activation, in one launch.

use crate::oracle::Oracle;
use tilewise::conv::{
    ConvOptions, Convolution, Padding, batch_norm_terms, conv_transpose2d, conv_transpose2d_backward, conv2d,
    conv2d_backward, fold_batch_norm,
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
    let bias = bias::<T>(gpu, oracle);
    let y = conv2d(&x, &weight, bias.as_ref(), &options(oracle)).unwrap();
    oracle.assert_output("y", &y);
    let grad = oracle.tensor::<T>(gpu, "grad_y");
    let gradients = conv2d_backward(&x, &weight, bias.as_ref(), &options(oracle), &grad).unwrap();
    assert_gradients(oracle, &gradients);
}

pub(crate) fn transposed<T: Real>(gpu: &Gpu, oracle: &mut Oracle) {
    let [x, weight, grad] = ["x", "weight", "grad_y"].map(|name| oracle.tensor::<T>(gpu, name));
    let bias = oracle.tensor::<T>(gpu, "bias");
    let [height, width] = numbers(oracle, "padding");
    let options = unpadded(oracle).padding(Padding::Explicit([[height; 2], [width; 2]]));
    let more = numbers(oracle, "output_padding");
    let y = conv_transpose2d(&x, &weight, Some(&bias), &options, more).unwrap();
    oracle.assert_output("y", &y);
    let gradients = conv_transpose2d_backward(&x, &weight, Some(&bias), &options, more, &grad).unwrap();
    assert_gradients(oracle, &gradients);
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
    let [scale, shift] = batch_norm_terms(&running, Some(&gamma), Some(&beta), eps).unwrap();
    let convolution = Convolution::new(&x, &weight).options(options(oracle)).scale_shift(&scale, &shift);
    let convolution = bias.as_ref().map_or(convolution, |bias| convolution.bias(bias));
    for (name, activation) in [("y_before_activation", Activation::None), ("y", activation)] {
        let launches = gpu.stats().launches;
        let y = convolution.activation(activation).run().unwrap();
        assert_eq!(gpu.stats().launches - launches, 1, "{oracle}");
        oracle.assert_output(name, &y);
    }
    let (folded, shift) =
        fold_batch_norm(&weight, bias.as_ref(), &running, Some(&gamma), Some(&beta), eps).unwrap();
    oracle.assert_output("weight_folded", &folded);
    oracle.assert_output("bias_folded", &shift);
}
