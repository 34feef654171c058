//! Layers of transformers: sizes, tensors and operands that do not go together, word by word, before anything is launched.

use super::random;
use super::said::Said;
use tilewise::attention::{
    AttentionOptions, Biases, CausalFrom, FeedForward, KeyValueCache, MultiHeadAttention, NormPosition,
    TransformerBlock,
};
use tilewise::ops::{Rotary, RotaryPairs};
use tilewise::{Error, Gpu, Result, Tensor};

fn layer(gpu: &Gpu) -> MultiHeadAttention<f32> {
    MultiHeadAttention::builder(12, 4).random(gpu).unwrap()
}

#[test]
fn sizes_that_do_not_divide() {
    let mut said = Said::new();
    let gpu = &said.gpu.clone();
    let of = |embed, heads, kv_heads| {
        MultiHeadAttention::<f32>::builder(embed, heads).kv_heads(kv_heads).random(gpu)
    };
    said.says(|| of(12, 5, 5));
    said.says(|| of(12, 0, 1));
    said.says(|| of(0, 4, 4));
    said.says(|| of(12, 4, 3));
    said.says(|| of(12, 4, 0));
    said.says(|| of(12, 2, 4));
    let block = |embed, heads, inner| TransformerBlock::<f32>::builder(embed, heads, inner);
    said.says(|| block(12, 5, 8).random(gpu));
    said.says(|| block(12, 4, 0).random(gpu));
    for eps in [-1.0, f32::NAN] {
        said.says(|| block(12, 4, 8).eps(eps).random(gpu));
    }
    let rotary = Rotary::new(gpu, RotaryPairs::Halves, 4, 1e4, 9).unwrap();
    said.says(|| MultiHeadAttention::<f32>::builder(12, 4).rotary(&rotary).random(gpu));
    said.compare();
}

#[test]
fn tensors_that_are_not_those_of_the_layer() {
    let mut said = Said::new();
    let gpu = &said.gpu.clone();
    let of = |shape: &[usize]| random(gpu, shape);
    let builder = MultiHeadAttention::<f32>::builder(12, 4).kv_heads(2);
    said.says(|| builder.from_tensors([("in_proj_weight", of(&[36, 12])), ("q_proj_weight", of(&[12, 12]))]));
    let twice = [("out_proj.weight", of(&[12, 12])), ("out_proj.weight", of(&[12, 12]))];
    said.says(|| builder.from_tensors(twice));
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
    said.says(|| block.from_tensors(tensors));
    said.compare();
}

#[test]
fn operands_that_are_not_those_of_the_layer() {
    let mut said = Said::new();
    let gpu = &said.gpu.clone();
    let of = |shape: &[usize]| random(gpu, shape);
    let (layer, none) = (layer(gpu), AttentionOptions::new());
    let x = of(&[2, 5, 12]);
    for wrong in [&[2, 5, 11][..], &[5, 12], &[1, 2, 5, 12]] {
        let wrong = of(wrong);
        said.says(|| layer.forward(&wrong, &none));
        said.says(|| layer.forward_cross(&x, &wrong, &none));
        said.says(|| layer.forward_cross_saved(&wrong, &x, &none));
    }
    said.says(|| layer.forward_cross(&x, &of(&[3, 5, 12]), &none));
    let rotary = Rotary::new(gpu, RotaryPairs::Halves, 2, 1e4, 4).unwrap();
    let rotated = MultiHeadAttention::<f32>::builder(12, 4).rotary(&rotary).random(gpu).unwrap();
    said.says(|| rotated.forward_cross(&x, &x, &none));
    let error = rotated.forward(&x, &none).unwrap_err().to_string();
    assert_eq!(
        error,
        "MultiHeadAttention::forward: the start: x takes the positions 0..5 of the table, which has 4"
    );
    let block = TransformerBlock::<f32>::builder(12, 4, 8).random(gpu).unwrap();
    said.says(|| block.forward(&of(&[5, 12]), &none));
    let (y, saved) = layer.forward_saved(&x, &none).unwrap();
    said.says(|| layer.backward(&saved, &y.slice(1, 1..).unwrap()));
    let other = MultiHeadAttention::<f32>::builder(12, 2).random(gpu).unwrap();
    said.says(|| other.backward(&saved, &y));
    said.compare();
}

#[test]
fn caches_that_are_full_or_of_other_shapes() {
    let mut said = Said::new();
    let gpu = &said.gpu.clone();
    let of = |shape: &[usize]| random(gpu, shape);
    let new = |shape| KeyValueCache::<f32>::new(gpu, shape);
    said.says(|| new([2, 0, 8, 4]));
    said.says(|| new([2, 3, 8, 0]));
    let mut cache = new([2, 3, 8, 4]).unwrap();
    let fits = of(&[2, 3, 2, 4]);
    for wrong in [&[1, 3, 2, 4][..], &[2, 2, 2, 4], &[2, 3, 2, 5], &[2, 3, 8]] {
        let wrong = of(wrong);
        said.says(|| cache.append(&wrong, &fits));
        said.says(|| cache.append(&fits, &wrong));
    }
    said.says(|| cache.append(&fits, &of(&[2, 3, 1, 4])));
    said.says(|| cache.append(&of(&[2, 3, 9, 4]), &of(&[2, 3, 9, 4])));
    let layer = layer(gpu);
    let mut cache = layer.cache(2, 3).unwrap();
    let x = of(&[2, 2, 12]);
    said.says(|| layer.forward_cached(&x, &mut cache, &AttentionOptions::new().causal(CausalFrom::TopLeft)));
    layer.forward_cached(&x, &mut cache, &AttentionOptions::new()).unwrap();
    said.says(|| layer.forward_cached(&x, &mut cache, &AttentionOptions::new()));
    let block =
        TransformerBlock::<f32>::builder(12, 4, 8).norm_position(NormPosition::Pre).random(gpu).unwrap();
    said.says(|| block.forward_cached(&x, &mut cache, &AttentionOptions::new()));
    said.says(|| layer.forward_cached(&x.slice(0, ..1)?, &mut cache, &AttentionOptions::new()));
    assert_eq!(cache.len(), 2);
    said.compare();
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
