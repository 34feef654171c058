//! Layers of transformers: against their definitions, decoding with a cache, their launches, and their files.

mod cache;
mod decode;
mod definition;
mod files;
mod gradients;
mod launches;
mod replay;
mod replayable;
mod replayable_decode;
mod replayable_lost;
mod replayable_runs;
mod replayable_words;
mod steps;

use tilewise::attention::{
    Biases, BlockNorm, CausalFrom, FeedForward, MultiHeadAttention, NormPosition, TransformerBlock,
};
use tilewise::ops::{Rotary, RotaryPairs};
use tilewise::reference::{MultiHeadReference, TransformerBlockReference, WeightAndBias, rotary_angles};
use tilewise::{Fill, Gpu, Parameters, Real, Tensor};

/// The base of the rotary tables here.
const BASE: f64 = 10_000.0;

/// What a layer is built of.
#[derive(Clone, Copy, Debug)]
struct Form {
    embed: usize,
    heads: usize,
    kv_heads: usize,
    biases: Biases,
    rotary: Option<(RotaryPairs, usize)>,
}

/// What a block is built of.
#[derive(Clone, Copy, Debug)]
struct BlockForm {
    attention: Form,
    inner: usize,
    norm: BlockNorm,
    position: NormPosition,
    feed_forward: FeedForward,
}

/// Odd sizes, with everything.
const ODD: Form =
    Form { embed: 30, heads: 6, kv_heads: 2, biases: Biases::All, rotary: Some((RotaryPairs::Halves, 4)) };

impl Form {
    fn rotary(&self, gpu: &Gpu, positions: usize) -> Option<Rotary> {
        self.rotary.map(|(pairs, dims)| Rotary::new(gpu, pairs, dims, BASE, positions).unwrap())
    }

    /// A layer whose parameters, biases too, are random.
    fn layer<T: Real>(&self, gpu: &Gpu, positions: usize) -> MultiHeadAttention<T> {
        let mut builder = MultiHeadAttention::builder(self.embed, self.heads);
        builder = builder.kv_heads(self.kv_heads).biases(self.biases);
        if let Some(rotary) = self.rotary(gpu, positions) {
            builder = builder.rotary(&rotary);
        }
        let names = builder.random(gpu).unwrap();
        builder.from_tensors(random_parameters(&names, gpu)).unwrap()
    }
}

impl BlockForm {
    fn block<T: Real>(&self, gpu: &Gpu, positions: usize) -> TransformerBlock<T> {
        let Form { embed, heads, kv_heads, biases, .. } = self.attention;
        let mut builder =
            TransformerBlock::builder(embed, heads, self.inner).kv_heads(kv_heads).biases(biases);
        builder = builder.norm(self.norm).norm_position(self.position).feed_forward(self.feed_forward);
        if let Some(rotary) = self.attention.rotary(gpu, positions) {
            builder = builder.rotary(&rotary);
        }
        let names = builder.random(gpu).unwrap();
        builder.from_tensors(random_parameters(&names, gpu)).unwrap()
    }
}

/// Other random values for all parameters of a layer: weights of matrices as in a new layer of PyTorch.
fn random_parameters<T: Real>(layer: &impl Parameters<T>, gpu: &Gpu) -> Vec<(String, Tensor<T>)> {
    let parameters = layer.parameters().into_iter().zip(1..);
    let random = |((name, tensor), seed): ((String, &Tensor<T>), u64)| {
        let shape = tensor.shape();
        let [scale, shift] = match (shape, name.as_str()) {
            ([_, inputs], _) => [(1.0 / *inputs as f64).sqrt(), 0.0],
            (_, "norm1.weight" | "norm2.weight") => [0.5, 1.0],
            _ => [0.5, 0.0],
        };
        let values = Fill::Uniform.values::<f32>(tensor.len(), seed).into_iter();
        let values: Vec<T> = values.map(|x| T::from_f64(f64::from(x) * scale + shift)).collect();
        (name, gpu.tensor(&values, shape).unwrap())
    };
    parameters.map(random).collect()
}

/// The elements of a tensor in f64.
fn reals<T: Real>(x: &Tensor<T>) -> Vec<f64> {
    x.to_vec().unwrap().into_iter().map(|x| x.to_f64()).collect()
}

/// Two parameters of a layer.
fn parameters<T: Real>(layer: &impl Parameters<T>, names: [&str; 2]) -> WeightAndBias {
    let all = layer.parameters();
    let [weight, bias] = names.map(|name| all.iter().find(|(own, _)| *own == name).map(|(_, of)| reals(of)));
    WeightAndBias { weight: weight.unwrap(), bias }
}

/// The definition of a layer for sequences of this length.
fn definition<T: Real>(layer: &MultiHeadAttention<T>, length: usize) -> MultiHeadReference {
    let positions: Vec<usize> = (0..length).collect();
    let angles = |of: &Rotary| (of.pairs(), rotary_angles(of.rotary_dims(), BASE, &positions));
    MultiHeadReference {
        heads: [layer.heads(), layer.kv_heads()],
        in_proj: parameters(layer, ["in_proj_weight", "in_proj_bias"]),
        out_proj: parameters(layer, ["out_proj.weight", "out_proj.bias"]),
        rotary: layer.rotary().map(angles),
        kept: None,
        stored: T::DTYPE,
    }
}

fn block_definition<T: Real>(
    block: &TransformerBlock<T>,
    form: BlockForm,
    length: usize,
) -> TransformerBlockReference {
    let of = |name: &str| parameters(block, [&format!("{name}.weight"), &format!("{name}.bias")]);
    TransformerBlockReference {
        attention: definition(block.attention(), length),
        linear: ["linear1", "linear2"].map(of),
        norm: ["norm1", "norm2"].map(of),
        norm_kind: form.norm,
        position: form.position,
        feed_forward: form.feed_forward,
        eps: if form.norm == BlockNorm::Layer { 1e-5 } else { 1e-6 },
    }
}

/// Which keys a causal mask keeps, (batch, heads, queries, keys).
fn causal(from: CausalFrom, [batch, heads, queries, keys]: [usize; 4]) -> Vec<bool> {
    let corner = if from == CausalFrom::BottomRight { keys as i64 - queries as i64 } else { 0 };
    let each = (0..batch * heads * queries).map(|at| (at % queries) as i64 + corner);
    each.flat_map(|last| (0..keys).map(move |j| j as i64 <= last)).collect()
}
