//! Layers in files: the names of PyTorch, and what is wrong with a file, all in one error.

use super::{BlockForm, Form, ODD, random_parameters};
use pollster::block_on;
use tilewise::attention::{
    AttentionOptions, Biases, BlockNorm, FeedForward, MultiHeadAttention, NormPosition, TransformerBlock,
};
use tilewise::io::{Safetensors, SafetensorsWriter};
use tilewise::{Activation, Fill, Parameters, Real, f16};

const FORM: BlockForm = BlockForm {
    attention: Form { embed: 12, heads: 4, kv_heads: 4, biases: Biases::All, rotary: None },
    inner: 20,
    norm: BlockNorm::Layer,
    position: NormPosition::Post,
    feed_forward: FeedForward::Plain(Activation::Gelu),
};

/// The names of `torch.nn.TransformerEncoderLayer(12, 4, 20).state_dict()`, and the shapes.
const NAMES: [(&str, &[usize]); 12] = [
    ("self_attn.in_proj_weight", &[36, 12]),
    ("self_attn.in_proj_bias", &[36]),
    ("self_attn.out_proj.weight", &[12, 12]),
    ("self_attn.out_proj.bias", &[12]),
    ("linear1.weight", &[20, 12]),
    ("linear1.bias", &[20]),
    ("linear2.weight", &[12, 20]),
    ("linear2.bias", &[12]),
    ("norm1.weight", &[12]),
    ("norm1.bias", &[12]),
    ("norm2.weight", &[12]),
    ("norm2.bias", &[12]),
];

/// The names and shapes of a layer's parameters.
fn shapes<T: Real>(layer: &impl Parameters<T>) -> Vec<(String, Vec<usize>)> {
    layer.parameters().into_iter().map(|(name, tensor)| (name, tensor.shape().to_vec())).collect()
}

#[test]
fn names_and_shapes_are_those_of_pytorch() {
    let gpu = support::noop();
    let block = FORM.block::<f32>(&gpu, 1);
    assert_eq!(shapes(&block), NAMES.map(|(name, shape)| (name.to_owned(), shape.to_vec())));
    let of_attention = NAMES
        .into_iter()
        .filter_map(|(name, shape)| Some((name.strip_prefix("self_attn.")?.to_owned(), shape.to_vec())));
    assert_eq!(shapes(block.attention()), of_attention.collect::<Vec<_>>());
    // Without biases, RMS norms, two maps stacked, fewer key heads.
    let attention = Form { biases: Biases::None, kv_heads: 2, ..FORM.attention };
    let form = BlockForm { attention, norm: BlockNorm::Rms, feed_forward: FeedForward::SwiGlu, ..FORM };
    let want: [(&str, &[usize]); 6] = [
        ("self_attn.in_proj_weight", &[24, 12]),
        ("self_attn.out_proj.weight", &[12, 12]),
        ("linear1.weight", &[40, 12]),
        ("linear2.weight", &[12, 20]),
        ("norm1.weight", &[12]),
        ("norm2.weight", &[12]),
    ];
    assert_eq!(
        shapes(&form.block::<f32>(&gpu, 1)),
        want.map(|(name, shape)| (name.to_owned(), shape.to_vec()))
    );
}

#[test]
fn what_is_saved_is_loaded() {
    let Some(gpu) = support::gpu() else { return };
    let builder = TransformerBlock::<f32>::builder(12, 4, 20).norm_position(NormPosition::Pre);
    let block = builder.from_tensors(random_parameters(&builder.random(&gpu).unwrap(), &gpu)).unwrap();
    let file = SafetensorsWriter::new().tensor("other", &gpu.zeros::<f32>([1]).unwrap()).unwrap();
    let file = block.save(file, "layers.0.").unwrap();
    let file = block_on(block.save_async(file, "layers.1.")).unwrap();
    let file = Safetensors::from_bytes(file.to_bytes().unwrap()).unwrap();
    assert_eq!(file.names().len(), 25);
    let x = gpu.random::<f32>([2, 3, 12], Fill::Uniform, 1).unwrap();
    let options = AttentionOptions::new();
    let want = block.forward(&x, &options).unwrap().to_vec().unwrap();
    for prefix in ["layers.0.", "layers.1."] {
        let loaded = builder.load(&file, &gpu, prefix).unwrap();
        assert_eq!(loaded.forward(&x, &options).unwrap().to_vec().unwrap(), want);
    }
    // The attention alone, of the same file.
    let builder = MultiHeadAttention::<f32>::builder(12, 4);
    let attention = builder.load(&file, &gpu, "layers.0.self_attn.").unwrap();
    let want = block.attention().forward(&x, &options).unwrap().to_vec().unwrap();
    assert_eq!(attention.forward(&x, &options).unwrap().to_vec().unwrap(), want);
    let again = block_on(attention.save_async(SafetensorsWriter::new(), "")).unwrap();
    let again =
        Safetensors::from_bytes(attention.save(again, "again.").unwrap().to_bytes().unwrap()).unwrap();
    assert_eq!(
        again.bytes("again.in_proj_bias").unwrap(),
        file.bytes("layers.0.self_attn.in_proj_bias").unwrap()
    );
}

#[test]
fn every_fault_of_a_file_is_in_one_error() {
    let gpu = support::noop();
    let mut file = SafetensorsWriter::new();
    for (name, shape) in NAMES.into_iter().filter(|(name, _)| *name != "norm1.bias") {
        let shape = if name == "linear2.weight" { &[20, 12] } else { shape };
        file = match name {
            "norm2.weight" => file.tensor(format!("a.{name}"), &gpu.zeros::<f16>(shape).unwrap()),
            _ => file.tensor(format!("a.{name}"), &gpu.zeros::<f32>(shape).unwrap()),
        }
        .unwrap();
    }
    let file = file.tensor("a.norm3.weight", &gpu.zeros::<f32>([12]).unwrap()).unwrap();
    let file = Safetensors::from_bytes(file.to_bytes().unwrap()).unwrap();
    let error = TransformerBlock::<f32>::builder(12, 4, 20).load(&file, &gpu, "a.").unwrap_err().to_string();
    assert_eq!(
        error,
        "TransformerBlock::load: `a.`: `a.linear2.weight` is [20, 12], not [12, 20]; `a.norm1.bias` is missing; \
         `a.norm2.weight` does not have the type f32; `a.norm3.weight` is not a tensor of the layer"
    );
    let error = MultiHeadAttention::<f32>::builder(12, 4).biases(Biases::None);
    let error = error.load(&file, &gpu, "a.self_attn.").unwrap_err().to_string();
    assert_eq!(
        error,
        "MultiHeadAttention::load: `a.self_attn.`: `a.self_attn.in_proj_bias` is not a tensor of the layer; \
         `a.self_attn.out_proj.bias` is not a tensor of the layer"
    );
}

#[test]
fn a_seed_gives_one_layer_in_the_bounds_of_pytorch() {
    let gpu = support::noop();
    let of = |seed: u64| TransformerBlock::<f32>::builder(12, 4, 20).seed(seed).random(&gpu).unwrap();
    let values = |block: &TransformerBlock<f32>| -> Vec<(String, Vec<f32>)> {
        block.parameters().into_iter().map(|(name, of)| (name, of.to_vec().unwrap())).collect()
    };
    assert_eq!(values(&of(3)), values(&of(3)));
    assert_ne!(values(&of(3)), values(&of(4)));
    for (name, values) in values(&of(3)) {
        let bound = match name.as_str() {
            "self_attn.in_proj_weight" => (6.0f32 / 48.0).sqrt(),
            "self_attn.out_proj.weight" | "linear1.weight" | "linear1.bias" => 12f32.sqrt().recip(),
            "linear2.weight" | "linear2.bias" => 20f32.sqrt().recip(),
            "norm1.weight" | "norm2.weight" => 1.0,
            _ => 0.0,
        };
        let most = values.iter().fold(0.0f32, |most, x| most.max(x.abs()));
        assert!(most <= bound && most >= 0.7 * bound, "{name}: {most}, {bound}");
    }
    // A cast layer has the same form.
    let half = ODD.layer::<f32>(&gpu, 9).cast::<f16>().unwrap();
    assert_eq!((half.kv_heads(), half.head_dim(), half.rotary().is_some()), (2, 5, true));
    let half = of(3).cast::<f16>().unwrap();
    assert_eq!((half.inner(), half.embed()), (20, 12));
}
