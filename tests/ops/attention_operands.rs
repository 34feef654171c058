//! The operands of attention: the order of axes, repeated numbers, none, and such as do not fit.

use tilewise::attention::{AttentionOptions, attention_with_lse};
use tilewise::{Fill, Tensor, attention};

#[test]
fn the_result_lies_in_the_order_of_the_queries_axes() {
    let Some(gpu) = support::gpu() else { return };
    let x = gpu.zeros::<f32>([2, 5, 3, 8]).unwrap(); // (batch, length, heads, dim)
    let by_head = x.permute(&[0, 2, 1, 3]).unwrap();
    let y = attention(&by_head, &by_head, &by_head, &AttentionOptions::new()).unwrap();
    assert_eq!((y.shape(), y.layout().strides()), ([2, 3, 5, 8].as_slice(), by_head.layout().strides()));
    assert!(y.permute(&[0, 2, 1, 3]).unwrap().reshape([10, 24]).is_ok(), "a view");
    let plain = by_head.contiguous().unwrap();
    let y = attention(&plain, &by_head, &by_head, &AttentionOptions::new()).unwrap();
    assert!(y.layout().is_contiguous());
}

/// A head of one number, repeated along the head dim.
#[test]
fn heads_may_repeat_a_number() {
    let Some(gpu) = support::gpu() else { return };
    let options = AttentionOptions::new();
    let of = |seed| gpu.random::<f32>([1, 2, 5, 8], Fill::Uniform, seed).unwrap();
    let (whole, narrow) = (of(1), of(2).slice(3, ..1).unwrap().broadcast_to([1, 2, 5, 8]).unwrap());
    let copy = narrow.contiguous().unwrap();
    for at in 0..3 {
        let with = |one: &Tensor<f32>| {
            let [q, k, v] = [0, 1, 2].map(|i| if i == at { one } else { &whole });
            attention(q, k, v, &options).unwrap().to_vec().unwrap()
        };
        let (got, want) = (with(&narrow), with(&copy));
        assert!(
            got.iter().zip(&want).all(|(a, b)| (a - b).abs() <= 1e-6),
            "operand {at}: {got:?}, not {want:?}"
        );
    }
}

#[test]
fn no_queries_and_no_keys_have_results() {
    let Some(gpu) = support::gpu() else { return };
    let of = |length: usize| gpu.random::<f32>([2, 3, length, 4], Fill::Uniform, 1).unwrap();
    let (none, some) = (of(0), of(5));
    let options = AttentionOptions::new();
    let (y, lse) = attention_with_lse(&none, &some, &some, &options).unwrap();
    assert_eq!((y.shape(), lse.shape()), ([2, 3, 0, 4].as_slice(), [2, 3, 0, 2].as_slice()));
    let (y, lse) = attention_with_lse(&some, &none, &none, &options).unwrap();
    assert_eq!(y.to_vec().unwrap(), [0.0; 120]);
    assert_eq!(lse.to_vec().unwrap(), [f32::NEG_INFINITY; 60]);
}
