//! Activations and their gradients.

use crate::oracle::Oracle;
use tilewise::{Activation, Gpu, Real, bf16, f16, ops};

/// Each activation of the file, by its name in PyTorch.
pub(crate) fn check(gpu: &Gpu, oracle: &mut Oracle) {
    for name in oracle.names("activations") {
        let is_named = |activation: &Activation| activation.to_string().replace('-', "_") == name;
        let activation = Activation::ALL.into_iter().find(is_named);
        let activation = activation.unwrap_or_else(|| panic!("{oracle}: the activation `{name}` is unknown"));
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
