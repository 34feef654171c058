//! Attention, and its gradients.

use crate::words::said::Said;
use tilewise::attention::{AttentionOptions, attention, attention_backward, attention_bias_backward};

#[test]
fn operands_of_attention_that_do_not_fit() {
    let mut said = Said::new();
    let [q, k, few, none] =
        [[2, 4, 3, 8], [2, 2, 5, 8], [2, 3, 3, 8], [2, 0, 5, 8]].map(|shape| said.tensor(&shape));
    let options = AttentionOptions::new();
    said.says(|| attention(&few, &k, &k, &options));
    said.says(|| attention(&q, &none, &none, &options));
    for shape in [[2, 2, 5, 6], [1, 2, 5, 8]] {
        let keys = said.tensor(&shape);
        said.says(|| attention(&q, &keys, &k, &options));
    }
    let values = said.tensor(&[2, 2, 6, 8]);
    said.says(|| attention(&q, &k, &values, &options));
    let three = said.tensor(&[4, 3, 8]);
    said.says(|| attention(&three, &k, &k, &options));
    for shape in [&[4, 1][..], &[1, 1, 1, 1, 1]] {
        let bias = said.tensor(shape);
        said.says(|| attention(&q, &k, &k, &options.bias(&bias)));
    }
    let (slopes, lengths) = (said.tensor(&[2]), said.integers(&[3]));
    said.says(|| attention(&q, &k, &k, &options.alibi(&slopes)));
    said.says(|| attention(&q, &k, &k, &options.key_lengths(&lengths)));
    let keep = said.gpu.zeros::<i8>([2, 6]).unwrap();
    said.says(|| attention(&q, &k, &k, &options.keep(&keep)));
    said.says(|| attention(&q, &k, &k, &options.scale(f32::NAN)));
    let (wide, empty, values) =
        (said.tensor(&[1, 1, 2, 513]), said.tensor(&[1, 1, 2, 0]), k.slice(0, ..1).unwrap());
    said.says(|| attention(&wide, &wide, &wide, &options));
    said.says(|| attention(&empty, &empty, &values, &options));
    said.compare();
}

#[test]
fn results_that_the_forward_pass_did_not_give() {
    let mut said = Said::new();
    let [q, k, v, y] =
        [[2, 4, 3, 8], [2, 2, 5, 8], [2, 2, 5, 6], [2, 4, 3, 6]].map(|shape| said.tensor(&shape));
    let (lse, short, options) =
        (said.tensor(&[2, 4, 3, 2]), said.tensor(&[2, 4, 3]), AttentionOptions::new());
    let turned = said.tensor(&[2, 3, 4, 2]).permute(&[0, 2, 1, 3]).unwrap();
    said.says(|| attention_backward(&q, &k, &v, &q, &lse, &y, &options));
    said.says(|| attention_backward(&q, &k, &v, &y, &lse, &q, &options));
    said.says(|| attention_backward(&q, &k, &v, &y, &short, &y, &options));
    said.says(|| attention_backward(&q, &k, &v, &y, &turned, &y, &options));
    said.says(|| attention_bias_backward(&q, &k, &v, &y, &lse, &y, &options));
    said.compare();
}
