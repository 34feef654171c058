//! Activations and their gradients.

use crate::oracle::Oracle;
use tilewise::{Activation, Gpu, Real, bf16, f16, ops};

/// Each activation of the file, by its name in PyTorch.
pub(crate) fn check(gpu: &Gpu, oracle: &mut Oracle) {
    for name in oracle.names("activations") {
        let activation = match name.as_str() {
            "relu" => Activation::Relu,
            "gelu" => Activation::Gelu,
            "gelu_tanh" => Activation::GeluTanh,
            "silu" => Activation::Silu,
            "sigmoid" => Activation::Sigmoid,
            "tanh" => Activation::Tanh,
            "softplus" => Activation::Softplus,
            "elu" => Activation::Elu,
            "leaky_relu" => Activation::LeakyRelu,
            "mish" => Activation::Mish,
            "hardswish" => Activation::Hardswish,
            "quick_gelu" => Activation::QuickGelu,
            other => panic!("{oracle}: the activation `{other}` is unknown"),
        };
        check_in::<f32>(gpu, oracle, &name, activation);
        // As in `tests/ops`: two functions will do beside f32.
        if support::is_full_sweep() || [Activation::Gelu, Activation::Silu].contains(&activation) {
            check_in::<f16>(gpu, oracle, &name, activation);
            check_in::<bf16>(gpu, oracle, &name, activation);
        }
    }
}

fn check_in<T: Real>(gpu: &Gpu, oracle: &mut Oracle, name: &str, activation: Activation) {
    if !oracle.holds(T::DTYPE) {
        return;
    }
    let (x, grad_y) = (oracle.tensor::<T>(gpu, "x"), oracle.tensor::<T>(gpu, "grad_y"));
    oracle.assert_output(&format!("y_{name}"), &ops::activate(&x, activation).unwrap());
    let grad_x = ops::activate_backward(&x, &grad_y, activation).unwrap();
    oracle.assert_output(&format!("grad_x_{name}"), &grad_x);
}
