//! Norms: forward and all gradients.

use crate::oracle::Oracle;
use tilewise::conv::BatchNorm2d;
use tilewise::ops::{GroupNorm, LayerNorm, Normed, RmsNorm, RunningStatistics};
use tilewise::{Gpu, Gradients, Real, Tensor};

/// An input that the file may lack.
fn optional<T: Real>(gpu: &Gpu, oracle: &mut Oracle, name: &str) -> Option<Tensor<T>> {
    oracle.has(name).then(|| oracle.tensor(gpu, name))
}

/// The operand, the gradient of the result, gamma and beta.
fn operands<T: Real>(gpu: &Gpu, oracle: &mut Oracle) -> ([Tensor<T>; 2], [Option<Tensor<T>>; 2]) {
    let [x, grad] = ["x", "grad_y"].map(|name| oracle.tensor::<T>(gpu, name));
    let [gamma, beta] = ["gamma", "beta"].map(|name| optional::<T>(gpu, oracle, name));
    assert_eq!(gamma.is_some(), oracle.parameter::<u8>("affine") == 1);
    ([x, grad], [gamma, beta])
}

fn assert_normed<T: Real>(oracle: &mut Oracle, normed: &Normed<T>) {
    oracle.assert_output("y", &normed.y);
    oracle.assert_output("mean", &normed.mean);
    oracle.assert_output("rstd", &normed.rstd);
}

pub(crate) fn layer<T: Real>(gpu: &Gpu, oracle: &mut Oracle) {
    let ([x, grad], [gamma, beta]) = operands::<T>(gpu, oracle);
    assert_eq!(beta.is_some(), oracle.parameter::<u8>("bias") == 1);
    let norm = LayerNorm::new().gamma(gamma.as_ref()).beta(beta.as_ref()).eps(oracle.parameter("eps"));
    let normed = norm.with_statistics(&x).unwrap();
    assert_normed(oracle, &normed);
    assert_gradients(oracle, &norm.backward(&x, &normed, &grad).unwrap());
}

pub(crate) fn rms<T: Real>(gpu: &Gpu, oracle: &mut Oracle) {
    let ([x, grad], [gamma, _]) = operands::<T>(gpu, oracle);
    let norm = RmsNorm::new().gamma(gamma.as_ref()).eps(oracle.parameter("eps"));
    let normed = norm.with_statistics(&x).unwrap();
    oracle.assert_output("y", &normed.y);
    oracle.assert_output("rstd", &normed.rstd);
    assert_gradients(oracle, &norm.backward(&x, &normed, &grad).unwrap());
}

pub(crate) fn group<T: Real>(gpu: &Gpu, oracle: &mut Oracle) {
    let ([x, grad], [gamma, beta]) = operands::<T>(gpu, oracle);
    let norm = GroupNorm::new(oracle.parameter("groups")).gamma(gamma.as_ref()).beta(beta.as_ref());
    let norm = norm.eps(oracle.parameter("eps"));
    let normed = norm.with_statistics(&x).unwrap();
    assert_normed(oracle, &normed);
    assert_gradients(oracle, &norm.backward(&x, &normed, &grad).unwrap());
}

pub(crate) fn batch<T: Real>(gpu: &Gpu, oracle: &mut Oracle) {
    let ([x, grad], [gamma, beta]) = operands::<T>(gpu, oracle);
    let [mean, variance] = ["running_mean", "running_var"].map(|name| oracle.tensor::<f32>(gpu, name));
    let before = RunningStatistics { mean, variance };
    let norm = BatchNorm2d::new(gamma, beta, before).unwrap().eps(oracle.parameter("eps"));
    let mut norm = norm.momentum(Some(oracle.parameter("momentum")));
    let (of_x, gradients) = if oracle.parameter::<u8>("training") == 1 {
        let normed = norm.training(&x).unwrap();
        oracle.assert_output("y", &normed.y);
        oracle.assert_output("mean", &normed.mean);
        oracle.assert_output("var_biased", &normed.variance);
        oracle.assert_output("rstd", &normed.rstd);
        norm.training_backward(&x, &normed, &grad).unwrap()
    } else {
        oracle.assert_output("y", &norm.forward(&x).unwrap()); // statistics stay
        norm.backward(&x, &grad).unwrap()
    };
    oracle.assert_output("running_mean_after", &norm.running().mean);
    oracle.assert_output("running_var_after", &norm.running().variance);
    assert_gradients(oracle, &(of_x, of_norm(&gradients)));
}

/// The gradients of the layer by the names of the norm.
fn of_norm(gradients: &Gradients) -> Gradients {
    let mut of = Gradients::new();
    for (from, to) in [("weight", "gamma"), ("bias", "beta")] {
        if let Some(gradient) = gradients.get(from) {
            of.add(to, gradient.clone()).unwrap();
        }
    }
    of
}

fn assert_gradients<T: Real>(oracle: &mut Oracle, (of_x, gradients): &(Tensor<T>, Gradients)) {
    oracle.assert_output("grad_x", of_x);
    for (name, found) in ["gamma", "beta"].map(|name| (format!("grad_{name}"), gradients.get(name))) {
        assert_eq!(found.is_some(), oracle.has(&name), "{oracle}: {name}");
        if let Some(found) = found {
            oracle.assert_output(&name, found);
        }
    }
}
