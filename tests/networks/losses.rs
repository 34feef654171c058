//! Losses of elements, and their gradients.

use crate::cross_entropy::reduction;
use crate::oracle::Oracle;
use tilewise::{Gpu, Real, ops};

pub(crate) fn check<T: Real>(gpu: &Gpu, oracle: &mut Oracle) {
    let (x, target) = (oracle.tensor::<T>(gpu, "x"), oracle.tensor::<T>(gpu, "target"));
    let g = oracle.tensor::<f32>(gpu, "grad_loss");
    let reduction = reduction(oracle);
    let (loss, gradient) = match oracle.kind.as_str() {
        "mse" => ops::mse_and_gradient(&x, &target, reduction, &g),
        "l1" => ops::l1_and_gradient(&x, &target, reduction, &g),
        "huber" => ops::huber_and_gradient(&x, &target, oracle.parameter("delta"), reduction, &g),
        "bce_logits" => {
            let weight = oracle.has("pos_weight").then(|| oracle.tensor(gpu, "pos_weight"));
            ops::bce_with_logits_and_gradient(&x, &target, weight.as_ref(), reduction, &g)
        }
        other => panic!("{oracle}: the loss `{other}` is unknown"),
    }
    .unwrap();
    oracle.assert_output("loss", &loss);
    oracle.assert_output("grad_x", &gradient);
}
