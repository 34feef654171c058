//! Attention.

use crate::oracle::Oracle;
use tilewise::attention::{
    AttentionOptions, CausalFrom, attention_backward, attention_bias_backward, attention_with_lse,
};
use tilewise::{DType, Gpu, Real, Tensor, ops};

/// The operands that only some files have.
struct Optional<T: Real> {
    bias: Option<Tensor<T>>,
    keep: Option<Tensor<i8>>,
    slopes: Option<Tensor<f32>>,
}

pub(crate) fn check<T: Real>(gpu: &Gpu, oracle: &mut Oracle) {
    let [q, k, v, grad] = ["q", "k", "v", "grad_out"].map(|name| oracle.tensor::<T>(gpu, name));
    let optional = Optional {
        bias: oracle.has("bias").then(|| oracle.tensor(gpu, "bias")),
        keep: oracle.has("key_keep").then(|| oracle.tensor(gpu, "key_keep")),
        slopes: oracle.has("alibi_slopes").then(|| oracle.tensor(gpu, "alibi_slopes")),
    };
    let options = options(oracle, &optional);
    let (y, lse) = attention_with_lse(&q, &k, &v, &options).unwrap();
    oracle.assert_output("out", &y);
    oracle.assert_output("lse", &ops::sum(&lse, 3).unwrap()); // the two parts together
    let [of_q, of_k, of_v] = ["grad_q", "grad_k", "grad_v"];
    if T::DTYPE != DType::F32 {
        // A result that is rounded to these types changes the gradients by more than what the files allow. `tests/ops` compares them with
        // the gradients of the rounded result.
        return;
    }
    oracle.assert_output("delta", &ops::sum(&ops::mul(&y, &grad).unwrap(), 3).unwrap());
    let gradients = attention_backward(&q, &k, &v, &y, &lse, &grad, &options).unwrap();
    for (name, found) in [(of_q, &gradients.q), (of_k, &gradients.k), (of_v, &gradients.v)] {
        oracle.assert_output(name, found);
    }
    if oracle.has("grad_bias") {
        let found = attention_bias_backward(&q, &k, &v, &y, &lse, &grad, &options).unwrap();
        oracle.assert_output("grad_bias", &found);
    }
}

/// The options that a file's metadata say.
fn options<'a, T: Real>(oracle: &Oracle, optional: &'a Optional<T>) -> AttentionOptions<'a, T> {
    let mut options = AttentionOptions::new().scale(oracle.parameter("scale"));
    options = match oracle.parameter::<String>("causal").as_str() {
        "none" => options,
        "top_left" => options.causal(CausalFrom::TopLeft),
        "bottom_right" => options.causal(CausalFrom::BottomRight),
        other => panic!("{oracle}: causal is `{other}`"),
    };
    let side = |key| usize::try_from(oracle.parameter::<i64>(key)).ok();
    options = options.window(side("window_left"), side("window_right"));
    if let Some(bias) = &optional.bias {
        options = options.bias(bias);
    }
    if let Some(keep) = &optional.keep {
        options = options.keep(keep);
    }
    if let Some(slopes) = &optional.slopes {
        options = options.alibi(slopes);
    }
    options
}
