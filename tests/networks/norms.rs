//! Norms: forward and all gradients.

use crate::oracle::Oracle;
use tilewise::ops::{self, BatchNorm, GroupNorm, LayerNorm, NormGradients, RmsNorm, RunningStatistics};
use tilewise::{Gpu, Real, Tensor, bf16, f16};

/// Runs a check in every type in which the file is checked.
macro_rules! in_every_type {
    ($check:ident, $gpu:expr, $oracle:expr) => {
        $check::<f32>($gpu, $oracle);
        $check::<f16>($gpu, $oracle);
        $check::<bf16>($gpu, $oracle);
    };
}

pub(crate) fn layer(gpu: &Gpu, oracle: &mut Oracle) {
    in_every_type!(layer_in, gpu, oracle);
}

pub(crate) fn rms(gpu: &Gpu, oracle: &mut Oracle) {
    in_every_type!(rms_in, gpu, oracle);
}

/// An input that the file may lack.
fn optional<T: Real>(gpu: &Gpu, oracle: &mut Oracle, name: &str) -> Option<Tensor<T>> {
    oracle.has(name).then(|| oracle.tensor(gpu, name))
}

fn layer_in<T: Real>(gpu: &Gpu, oracle: &mut Oracle) {
    if !oracle.holds(T::DTYPE) {
        return;
    }
    let [x, grad] = ["x", "grad_y"].map(|name| oracle.tensor::<T>(gpu, name));
    let [gamma, beta] = ["gamma", "beta"].map(|name| optional::<T>(gpu, oracle, name));
    assert_eq!(gamma.is_some(), oracle.parameter::<u8>("affine") == 1);
    assert_eq!(beta.is_some(), oracle.parameter::<u8>("bias") == 1);
    let norm =
        LayerNorm { gamma: gamma.as_ref(), beta: beta.as_ref(), eps: oracle.parameter("eps"), axes: 1 };
    let normed = ops::layer_norm_with_statistics(&x, norm).unwrap();
    oracle.assert_output("y", &normed.y);
    oracle.assert_output("mean", &normed.mean);
    oracle.assert_output("rstd", &normed.rstd);
    let gradients = ops::layer_norm_backward(&x, &normed, norm, &grad).unwrap();
    assert_gradients(oracle, &gradients);
}

fn rms_in<T: Real>(gpu: &Gpu, oracle: &mut Oracle) {
    if !oracle.holds(T::DTYPE) {
        return;
    }
    let [x, grad] = ["x", "grad_y"].map(|name| oracle.tensor::<T>(gpu, name));
    let gamma = optional::<T>(gpu, oracle, "gamma");
    assert_eq!(gamma.is_some(), oracle.parameter::<u8>("affine") == 1);
    let norm = RmsNorm { gamma: gamma.as_ref(), eps: oracle.parameter("eps"), axes: 1 };
    let normed = ops::rms_norm_with_statistics(&x, norm).unwrap();
    oracle.assert_output("y", &normed.y);
    oracle.assert_output("rstd", &normed.rstd);
    let gradients = ops::rms_norm_backward(&x, &normed, norm, &grad).unwrap();
    assert_gradients(oracle, &gradients);
}

pub(crate) fn group(gpu: &Gpu, oracle: &mut Oracle) {
    in_every_type!(group_in, gpu, oracle);
}

pub(crate) fn batch(gpu: &Gpu, oracle: &mut Oracle) {
    in_every_type!(batch_in, gpu, oracle);
}

fn group_in<T: Real>(gpu: &Gpu, oracle: &mut Oracle) {
    if !oracle.holds(T::DTYPE) {
        return;
    }
    let [x, grad] = ["x", "grad_y"].map(|name| oracle.tensor::<T>(gpu, name));
    let [gamma, beta] = ["gamma", "beta"].map(|name| optional::<T>(gpu, oracle, name));
    assert_eq!(gamma.is_some(), oracle.parameter::<u8>("affine") == 1);
    let norm = GroupNorm {
        groups: oracle.parameter("groups"),
        gamma: gamma.as_ref(),
        beta: beta.as_ref(),
        eps: oracle.parameter("eps"),
    };
    let normed = ops::group_norm_with_statistics(&x, norm).unwrap();
    oracle.assert_output("y", &normed.y);
    oracle.assert_output("mean", &normed.mean);
    oracle.assert_output("rstd", &normed.rstd);
    let gradients = ops::group_norm_backward(&x, &normed, norm, &grad).unwrap();
    assert_gradients(oracle, &gradients);
}

fn batch_in<T: Real>(gpu: &Gpu, oracle: &mut Oracle) {
    if !oracle.holds(T::DTYPE) {
        return;
    }
    let [x, grad] = ["x", "grad_y"].map(|name| oracle.tensor::<T>(gpu, name));
    let [gamma, beta] = ["gamma", "beta"].map(|name| optional::<T>(gpu, oracle, name));
    assert_eq!(gamma.is_some(), oracle.parameter::<u8>("affine") == 1);
    let [mean, variance] = ["running_mean", "running_var"].map(|name| oracle.tensor::<f32>(gpu, name));
    let running = RunningStatistics { mean, variance };
    let norm = BatchNorm {
        gamma: gamma.as_ref(),
        beta: beta.as_ref(),
        eps: oracle.parameter("eps"),
        momentum: oracle.parameter("momentum"),
    };
    let (after, gradients) = if oracle.parameter::<u8>("training") == 1 {
        let normed = ops::batch_norm_training(&x, Some(&running), norm).unwrap();
        oracle.assert_output("y", &normed.y);
        oracle.assert_output("mean", &normed.mean);
        oracle.assert_output("var_biased", &normed.variance);
        oracle.assert_output("rstd", &normed.rstd);
        let gradients = ops::batch_norm_training_backward(&x, &normed, norm, &grad).unwrap();
        (normed.running.unwrap(), gradients)
    } else {
        oracle.assert_output("y", &ops::batch_norm(&x, &running, norm).unwrap());
        let gradients = ops::batch_norm_backward(&x, &running, norm, &grad).unwrap();
        (running, gradients) // unchanged
    };
    oracle.assert_output("running_mean_after", &after.mean);
    oracle.assert_output("running_var_after", &after.variance);
    assert_gradients(oracle, &gradients);
}

fn assert_gradients<T: Real>(oracle: &mut Oracle, gradients: &NormGradients<T>) {
    oracle.assert_output("grad_x", &gradients.x);
    for (name, found) in [("grad_gamma", &gradients.gamma), ("grad_beta", &gradients.beta)] {
        assert_eq!(found.is_some(), oracle.has(name), "{oracle}: {name}");
        if let Some(found) = found {
            oracle.assert_output(name, found);
        }
    }
}
