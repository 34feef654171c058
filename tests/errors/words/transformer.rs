//! Layers of transformers: sizes, tensors and operands that do not go together, word by word, before anything is launched.

use super::random;
use tilewise::attention::{Biases, FeedForward, NormPosition};
use tilewise::ops::{Rotary, RotaryPairs};
use tilewise::{
    AttentionOptions, CausalFrom, Error, Gpu, KeyValueCache, MultiHeadAttention, Result, Tensor,
    TransformerBlock,
};

/// Asserts that a call fails with these words and launches nothing.
fn says<R>(gpu: &Gpu, call: impl FnOnce() -> Result<R>, words: &str) {
    let launches = gpu.stats().launches;
    let error = call().err().unwrap_or_else(|| panic!("no error, but: {words}")).to_string();
    assert_eq!(error, words);
    assert_eq!(gpu.stats().launches, launches, "{words}");
}

fn layer(gpu: &Gpu) -> MultiHeadAttention<f32> {
    MultiHeadAttention::builder(12, 4).random(gpu).unwrap()
}

#[test]
fn sizes_that_do_not_divide() {
    let gpu = &support::noop();
    let of = |embed, heads, kv_heads| {
        MultiHeadAttention::<f32>::builder(embed, heads).kv_heads(kv_heads).random(gpu)
    };
    let heads =
        "MultiHeadAttention::random: the heads: their number must divide that of the embedding's elements,";
    says(gpu, || of(12, 5, 5), &format!("{heads} 12; it is 5"));
    says(gpu, || of(12, 0, 1), &format!("{heads} 12; it is 0"));
    says(gpu, || of(0, 4, 4), &format!("{heads} 0; it is 4"));
    let kv_heads = "MultiHeadAttention::random: the key heads: their number must divide that of the heads,";
    says(gpu, || of(12, 4, 3), &format!("{kv_heads} 4; it is 3"));
    says(gpu, || of(12, 4, 0), &format!("{kv_heads} 4; it is 0"));
    says(gpu, || of(12, 2, 4), &format!("{kv_heads} 2; it is 4"));
    let block = |embed, heads, inner| TransformerBlock::<f32>::builder(embed, heads, inner);
    says(
        gpu,
        || block(12, 5, 8).random(gpu),
        "TransformerBlock::random: the heads: their number must divide that of the embedding's elements, 12; it is 5",
    );
    says(
        gpu,
        || block(12, 4, 0).random(gpu),
        "TransformerBlock::random: the inner features: there must be at least one",
    );
    for eps in [-1.0, f32::NAN] {
        says(
            gpu,
            || block(12, 4, 8).eps(eps).random(gpu),
            &format!("TransformerBlock::random: eps: it must be finite and at least 0, not {eps}"),
        );
    }
    let rotary = Rotary::new(gpu, RotaryPairs::Halves, 4, 1e4, 9).unwrap();
    says(
        gpu,
        || MultiHeadAttention::<f32>::builder(12, 4).rotary(&rotary).random(gpu),
        "MultiHeadAttention::random: the rotary dims: there are 4, more than the 3 elements of a head",
    );
}

#[test]
fn tensors_that_are_not_those_of_the_layer() {
    let gpu = &support::noop();
    let of = |shape: &[usize]| random(gpu, shape);
    let builder = MultiHeadAttention::<f32>::builder(12, 4).kv_heads(2);
    says(
        gpu,
        || builder.from_tensors([("in_proj_weight", of(&[36, 12])), ("q_proj_weight", of(&[12, 12]))]),
        "MultiHeadAttention::from_tensors: the tensors: `in_proj_weight` is [36, 12], not [24, 12]; `out_proj.weight` is \
         missing; `in_proj_bias` is missing; `out_proj.bias` is missing; `q_proj_weight` is not a tensor of the layer",
    );
    let twice = [("out_proj.weight", of(&[12, 12])), ("out_proj.weight", of(&[12, 12]))];
    says(
        gpu,
        || builder.from_tensors(twice),
        "MultiHeadAttention::from_tensors: the tensors: `out_proj.weight` is given twice",
    );
    let block =
        TransformerBlock::<f32>::builder(4, 2, 3).feed_forward(FeedForward::SwiGlu).biases(Biases::None);
    let tensors = [
        ("self_attn.in_proj_weight", of(&[12, 4])),
        ("self_attn.out_proj.weight", of(&[4, 4])),
        ("linear1.weight", of(&[3, 4])),
        ("linear2.weight", of(&[4, 3])),
        ("norm1.weight", of(&[4])),
        ("norm1.bias", of(&[4])),
    ];
    says(
        gpu,
        || block.from_tensors(tensors),
        "TransformerBlock::from_tensors: the tensors: `linear1.weight` is [3, 4], not [6, 4]; `norm2.weight` is missing; \
         `norm1.bias` is not a tensor of the layer",
    );
}

#[test]
fn operands_that_are_not_those_of_the_layer() {
    let gpu = &support::noop();
    let of = |shape: &[usize]| random(gpu, shape);
    let (layer, none) = (layer(gpu), AttentionOptions::new());
    let x = of(&[2, 5, 12]);
    let shape = "must be (batch, length, embed) with embed = 12; got";
    for wrong in [&[2, 5, 11][..], &[5, 12], &[1, 2, 5, 12]] {
        let wrong = of(wrong);
        let shape = format!("{shape} {:?}", wrong.shape());
        says(gpu, || layer.forward(&wrong, &none), &format!("MultiHeadAttention::forward: x {shape}"));
        says(
            gpu,
            || layer.forward_cross(&x, &wrong, &none),
            &format!("MultiHeadAttention::forward_cross: the key and value {shape}"),
        );
        says(
            gpu,
            || layer.forward_cross_saved(&wrong, &x, &none),
            &format!("MultiHeadAttention::forward_cross_saved: the query {shape}"),
        );
    }
    says(
        gpu,
        || layer.forward_cross(&x, &of(&[3, 5, 12]), &none),
        "MultiHeadAttention::forward_cross: the query and the key and value must have the same batch; got [2, 5, 12] and \
         [3, 5, 12]",
    );
    let rotary = Rotary::new(gpu, RotaryPairs::Halves, 2, 1e4, 4).unwrap();
    let rotated = MultiHeadAttention::<f32>::builder(12, 4).rotary(&rotary).random(gpu).unwrap();
    says(
        gpu,
        || rotated.forward_cross(&x, &x, &none),
        "MultiHeadAttention::forward_cross: the rotary table: positions of one tensor say nothing about those of another \
         one: build the layer without it",
    );
    let error = rotated.forward(&x, &none).unwrap_err().to_string();
    assert_eq!(
        error,
        "MultiHeadAttention::forward: the start: x takes the positions 0..5 of the table, which has 4"
    );
    let block = TransformerBlock::<f32>::builder(12, 4, 8).random(gpu).unwrap();
    says(
        gpu,
        || block.forward(&of(&[5, 12]), &none),
        &format!("TransformerBlock::forward: x {shape} [5, 12]"),
    );
    let (y, saved) = layer.forward_saved(&x, &none).unwrap();
    says(
        gpu,
        || layer.backward(&saved, &y.slice(1, 1..).unwrap()),
        "MultiHeadAttention::backward: the gradient must have the shape of the result; got [2, 4, 12] and [2, 5, 12]",
    );
    let other = MultiHeadAttention::<f32>::builder(12, 2).random(gpu).unwrap();
    says(
        gpu,
        || other.backward(&saved, &y),
        "MultiHeadAttention::backward: what was saved must be of this layer: of as many heads and key heads with as many \
         elements; got [4, 4, 3] and [2, 2, 6]",
    );
}

#[test]
fn caches_that_are_full_or_of_other_shapes() {
    let gpu = &support::noop();
    let of = |shape: &[usize]| random(gpu, shape);
    let new = |shape| KeyValueCache::<f32>::new(gpu, shape);
    let rule = "KeyValueCache::new: a cache must be (batch, key heads, capacity, dim) with heads that have elements; got";
    says(gpu, || new([2, 0, 8, 4]), &format!("{rule} [2, 0, 8, 4]"));
    says(gpu, || new([2, 3, 8, 0]), &format!("{rule} [2, 3, 8, 0]"));
    let mut cache = new([2, 3, 8, 4]).unwrap();
    let fits = of(&[2, 3, 2, 4]);
    for wrong in [&[1, 3, 2, 4][..], &[2, 2, 2, 4], &[2, 3, 2, 5], &[2, 3, 8]] {
        let wrong = of(wrong);
        let got = format!(
            "must be (batch, key heads, new, dim) as the cache's; got {:?} and [2, 3, 8, 4]",
            wrong.shape()
        );
        says(gpu, || cache.append(&wrong, &fits), &format!("KeyValueCache::append: the keys {got}"));
        says(gpu, || cache.append(&fits, &wrong), &format!("KeyValueCache::append: the values {got}"));
    }
    says(
        gpu,
        || cache.append(&fits, &of(&[2, 3, 1, 4])),
        "KeyValueCache::append: there must be as many keys as values; got [2, 3, 2, 4] and [2, 3, 1, 4]",
    );
    says(
        gpu,
        || cache.append(&of(&[2, 3, 9, 4]), &of(&[2, 3, 9, 4])),
        "KeyValueCache::append: the cache holds 0 of 8 positions and has no room for 9 more; got [2, 3, 9, 4] and \
         [2, 3, 8, 4]",
    );
    let layer = layer(gpu);
    let mut cache = layer.cache(2, 3).unwrap();
    let x = of(&[2, 2, 12]);
    says(
        gpu,
        || layer.forward_cached(&x, &mut cache, &AttentionOptions::new().causal(CausalFrom::TopLeft)),
        "MultiHeadAttention::forward_cached: the causal mask: with a cache it must count from `CausalFrom::BottomRight`, \
         where the new queries are",
    );
    layer.forward_cached(&x, &mut cache, &AttentionOptions::new()).unwrap();
    let full = "the cache holds 2 of 3 positions and has no room for 2 more; got [2, 2, 12] and [2, 4, 3, 3]";
    says(
        gpu,
        || layer.forward_cached(&x, &mut cache, &AttentionOptions::new()),
        &format!("MultiHeadAttention::forward_cached: {full}"),
    );
    let block =
        TransformerBlock::<f32>::builder(12, 4, 8).norm_position(NormPosition::Pre).random(gpu).unwrap();
    says(
        gpu,
        || block.forward_cached(&x, &mut cache, &AttentionOptions::new()),
        &format!("TransformerBlock::forward_cached: {full}"),
    );
    says(
        gpu,
        || layer.forward_cached(&x.slice(0, ..1)?, &mut cache, &AttentionOptions::new()),
        "MultiHeadAttention::forward_cached: the cache must be (1, 4, capacity, 3) for x and this layer; got [2, 4, 3, 3] \
         and [1, 2, 12]",
    );
    assert_eq!(cache.len(), 2);
}

#[test]
fn tensors_of_another_device() {
    let (gpu, other) = (&support::noop(), support::noop());
    let apart = |call: &str, result: Result<()>| match result {
        Err(Error::Gpu { op, .. }) => assert_eq!(op, call),
        found => panic!("{call}: {found:?}"),
    };
    let (layer, none) = (layer(gpu), AttentionOptions::new());
    let block = TransformerBlock::<f32>::builder(12, 4, 8).random(gpu).unwrap();
    let [x, far] = [gpu, &other].map(|gpu| random(gpu, &[2, 5, 12]));
    apart("MultiHeadAttention::forward", layer.forward(&far, &none).map(drop));
    apart("MultiHeadAttention::forward_cross", layer.forward_cross(&x, &far, &none).map(drop));
    apart("MultiHeadAttention::forward_cross", layer.forward_cross(&far, &x, &none).map(drop));
    apart("TransformerBlock::forward", block.forward(&far, &none).map(drop));
    let keep = other.zeros::<i8>([2, 5]).unwrap();
    apart("MultiHeadAttention::forward", layer.forward(&x, &AttentionOptions::new().keep(&keep)).map(drop));
    let mut cache = KeyValueCache::new(&other, [2, 4, 9, 3]).unwrap();
    apart("MultiHeadAttention::forward_cached", layer.forward_cached(&x, &mut cache, &none).map(drop));
    let part = random(gpu, &[2, 4, 1, 3]);
    apart("KeyValueCache::append", cache.append(&part, &random(&other, &[2, 4, 1, 3])));
    assert!(cache.is_empty());
    let (y, saved) = layer.forward_saved(&x, &none).unwrap();
    apart("MultiHeadAttention::backward", layer.backward(&saved, &far).map(drop));
    drop(y);
    let rotary = Rotary::new(&other, RotaryPairs::Halves, 2, 1e4, 9).unwrap();
    apart(
        "MultiHeadAttention::random",
        MultiHeadAttention::<f32>::builder(12, 4).rotary(&rotary).random(gpu).map(drop),
    );
    let tensors = |of_bias: &Gpu| -> Vec<(&'static str, Tensor<f32>)> {
        vec![
            ("in_proj_weight", random(gpu, &[36, 12])),
            ("in_proj_bias", random(of_bias, &[36])),
            ("out_proj.weight", random(gpu, &[12, 12])),
            ("out_proj.bias", random(gpu, &[12])),
        ]
    };
    let builder = MultiHeadAttention::<f32>::builder(12, 4);
    apart("MultiHeadAttention::from_tensors", builder.from_tensors(tensors(&other)).map(drop));
    builder.from_tensors(tensors(gpu)).unwrap();
}
