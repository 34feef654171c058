//! Cross-entropy of logits with classes or probabilities, and its gradient.

use crate::oracle::Oracle;
use tilewise::ops::{CrossEntropy, Reduction, Targets};
use tilewise::{Gpu, Real};

/// The metadata `reduction`.
pub(crate) fn reduction(oracle: &Oracle) -> Reduction {
    match oracle.parameter::<String>("reduction").as_str() {
        "mean" => Reduction::Mean,
        "sum" => Reduction::Sum,
        "none" => Reduction::None,
        other => panic!("{oracle}: the reduction `{other}` is unknown"),
    }
}

pub(crate) fn check<T: Real>(gpu: &Gpu, oracle: &mut Oracle) {
    let has_probabilities = oracle.parameter::<usize>("soft_targets") == 1;
    if has_probabilities {
        // The files say what holds the logits exactly. Rounded probabilities are others.
        let (_, probabilities) = oracle.values("target_probabilities");
        if probabilities.into_iter().any(|x| T::from_f64(x).to_f64() != x) {
            return;
        }
    }
    let logits = oracle.tensor::<T>(gpu, "logits");
    let sizes = [oracle.parameter::<usize>("n"), oracle.parameter("classes")];
    assert_eq!(logits.shape(), sizes, "{oracle}");
    let grad_loss = oracle.tensor::<f32>(gpu, "grad_loss");
    let weight = (oracle.parameter::<usize>("class_weight") == 1).then(|| oracle.tensor(gpu, "weight"));
    let entropy =
        CrossEntropy::new().label_smoothing(oracle.parameter("label_smoothing")).reduction(reduction(oracle));
    let entropy = if let Some(weight) = &weight { entropy.class_weights(weight) } else { entropy };
    let (loss, gradient) = if has_probabilities {
        let probabilities = oracle.tensor::<T>(gpu, "target_probabilities");
        entropy.run_with_gradient(&logits, Targets::Probabilities(&probabilities), &grad_loss).unwrap()
    } else {
        let classes = oracle.tensor::<i32>(gpu, "targets");
        let entropy = entropy.ignore_index(oracle.parameter("ignore_index"));
        entropy.run_with_gradient(&logits, &classes, &grad_loss).unwrap()
    };
    oracle.assert_output("loss", &loss.loss);
    oracle.assert_output("lse", &loss.log_sums);
    oracle.assert_output("grad_logits", &gradient);
}
