//! The encoder: from the ids of tokens to the embedding of a text.

use crate::batch::Batch;
use crate::config::{Config, POSITIONS, TOKEN_TYPES, WORDS};
use crate::model::Model;
use crate::watch::Watch;
use tilewise::attention::{AttentionOptions, attention};
use tilewise::gemm::Linear;
use tilewise::ops::{self, LayerNorm};
use tilewise::{Activation, Gemm, Gpu, Real, Result, Tensor};

/// The steps before the first layer, and after the last.
pub(crate) const EMBEDDING: &str = "embeddings";
pub(crate) const POOLING: &str = "pooling";

/// A BERT-style encoder on a device. Weights and activations are of type `T`; sums, softmax and norms are computed in f32.
pub(crate) struct Encoder<T: Real> {
    pub(crate) config: Config,
    gpu: Gpu,
    words: Tensor<T>,
    positions: Tensor<T>,
    token_type: Tensor<T>,
    norm: Norm<T>,
    pub(crate) layers: Vec<Layer<T>>,
}

/// A layer of the encoder.
pub(crate) struct Layer<T: Real> {
    /// Query, key and value as one product: the weights are stacked to (3 hidden, hidden).
    pub(crate) projections: Linear<T>,
    pub(crate) output: Linear<T>,
    attention_norm: Norm<T>,
    pub(crate) expand: Linear<T>,
    pub(crate) contract: Linear<T>,
    norm: Norm<T>,
}

struct Norm<T: Real> {
    gamma: Tensor<T>,
    beta: Tensor<T>,
    eps: f32,
}

/// The result of a pass.
pub(crate) struct Pass {
    /// The embeddings, each of norm 1: (text, hidden)
    pub(crate) embeddings: Tensor<f32>,
    /// Launches of each layer.
    pub(crate) launches: Vec<u64>,
}

impl<T: Real> Norm<T> {
    fn load(gpu: &Gpu, model: &Model, name: &str) -> Result<Self> {
        let load = |part| model.tensor(gpu, &format!("{name}.LayerNorm.{part}"));
        Ok(Self { gamma: load("weight")?, beta: load("bias")?, eps: model.config.eps })
    }

    fn of(&self, x: &Tensor<T>) -> Result<Tensor<T>> {
        let Self { gamma, beta, eps } = self;
        LayerNorm::new().gamma(gamma).beta(beta).eps(*eps).run(x)
    }
}

impl<T: Real> Layer<T> {
    fn load(gpu: &Gpu, model: &Model, index: usize) -> Result<Self> {
        let names = |parts: &[&str], of: &str| -> Vec<String> {
            parts.iter().map(|part| format!("encoder.layer.{index}.{part}.{of}")).collect()
        };
        let linear = |parts: &[&str], activation| {
            let weight = model.stacked(gpu, &names(parts, "weight"))?;
            Linear::new(weight, Some(model.stacked(gpu, &names(parts, "bias"))?), activation)
        };
        let norm = |part: &str| Norm::load(gpu, model, &format!("encoder.layer.{index}.{part}"));
        let projections = ["attention.self.query", "attention.self.key", "attention.self.value"];
        Ok(Self {
            projections: linear(&projections, Activation::None)?,
            output: linear(&["attention.output.dense"], Activation::None)?,
            attention_norm: norm("attention.output")?,
            expand: linear(&["intermediate.dense"], Activation::Gelu)?,
            contract: linear(&["output.dense"], Activation::None)?,
            norm: norm("output")?,
        })
    }

    /// The layer's output for `x` (text and row, hidden), and that of each of its steps in `watch`.
    fn forward(
        &self,
        x: &Tensor<T>,
        batch: &Batch<T>,
        config: &Config,
        index: usize,
        watch: &mut Watch,
    ) -> Result<Tensor<T>> {
        let (gpu, [texts, length], heads) = (x.gpu(), batch.shape, config.heads);
        let (rows, hidden) = (texts * length, config.hidden);
        let projected = watch.step(gpu, "query, key, value", || self.projections.forward(x))?;
        for (i, name) in ["query", "key", "value"].into_iter().enumerate() {
            watch
                .keep(&format!("layer.{index}.{name}"), &projected.slice(1, i * hidden..(i + 1) * hidden)?)?;
        }
        let [q, k, v] = heads_of(&projected, batch.shape, heads)?;
        let options = AttentionOptions::new().key_lengths(&batch.lengths);
        let context = watch.step(gpu, "attention", || attention(&q, &k, &v, &options))?;
        let context = context.permute(&[0, 2, 1, 3])?.reshape([rows, hidden])?;
        watch.keep(&format!("layer.{index}.context"), &context)?;
        let x = watch.step(gpu, "output", || self.output.forward_with_residual(&context, x))?;
        let x = watch.step(gpu, "layer norms", || self.attention_norm.of(&x))?;
        watch.keep(&format!("layer.{index}.attention_output"), &x)?;
        let inner = watch.step(gpu, "feed-forward, expanding", || self.expand.forward(&x))?;
        watch.keep(&format!("layer.{index}.intermediate"), &inner)?;
        let sum = watch
            .step(gpu, "feed-forward, contracting", || self.contract.forward_with_residual(&inner, &x))?;
        let y = watch.step(gpu, "layer norms", || self.norm.of(&sum))?;
        watch.keep(&format!("layer.{index}"), &y)?;
        Ok(y)
    }
}

/// The heads of queries, keys and values: views (text, head, row, dim) of the products (text and row, 3 hidden).
pub(crate) fn heads_of<T: Real>(
    projected: &Tensor<T>,
    [texts, length]: [usize; 2],
    heads: usize,
) -> Result<[Tensor<T>; 3]> {
    let dim = projected.shape()[1] / (3 * heads);
    let all = projected.reshape([texts, length, 3, heads, dim])?.permute(&[2, 0, 3, 1, 4])?;
    let part = |i| all.slice(0, i..=i)?.squeeze(0);
    Ok([part(0)?, part(1)?, part(2)?])
}

impl<T: Real> Encoder<T> {
    pub(crate) fn load(gpu: &Gpu, model: &Model) -> Result<Self> {
        Ok(Self {
            config: model.config,
            gpu: gpu.clone(),
            words: model.tensor(gpu, WORDS)?,
            positions: model.tensor(gpu, POSITIONS)?,
            token_type: model.tensor::<T>(gpu, TOKEN_TYPES)?.slice(0, 0..1)?,
            norm: Norm::load(gpu, model, "embeddings")?,
            layers: (0..model.config.layers)
                .map(|index| Layer::load(gpu, model, index))
                .collect::<Result<_>>()?,
        })
    }

    /// The embeddings of a batch.
    pub(crate) fn forward(&self, batch: &Batch<T>, watch: &mut Watch) -> Result<Pass> {
        self.pass(batch, &self.layers, watch)
    }

    /// A pass that ends after the first layer. The other layers would launch the same kernels.
    pub(crate) fn first_layer(&self, batch: &Batch<T>, watch: &mut Watch) -> Result<Pass> {
        self.pass(batch, &self.layers[..1.min(self.layers.len())], watch)
    }

    fn pass(&self, batch: &Batch<T>, layers: &[Layer<T>], watch: &mut Watch) -> Result<Pass> {
        let mut x = watch.step(&self.gpu, EMBEDDING, || self.embedded(batch))?;
        watch.keep("embedding", &x)?;
        let mut launches = Vec::new();
        for (index, layer) in layers.iter().enumerate() {
            let before = self.gpu.stats().launches;
            x = layer.forward(&x, batch, &self.config, index, watch)?;
            launches.push(self.gpu.stats().launches - before);
        }
        let embeddings = watch.step(&self.gpu, POOLING, || self.pooled(&x, batch))?;
        Ok(Pass { embeddings, launches })
    }

    /// The norm of the sums of each token's rows in the three tables: (text and row, hidden).
    fn embedded(&self, batch: &Batch<T>) -> Result<Tensor<T>> {
        let [texts, length] = batch.shape;
        let words = ops::embedding(&self.words, &batch.ids)?;
        let positions = self.positions.slice(0, ..length)?;
        let sums = ops::map(&[&words, &positions, &self.token_type], |[word, position, token_type]| {
            word + token_type + position
        })?;
        self.norm.of(&sums.reshape([texts * length, self.config.hidden])?)
    }

    /// The mean of each text's rows, divided by its norm. Whether the sum is divided by the number of rows before makes no
    /// difference.
    fn pooled(&self, x: &Tensor<T>, batch: &Batch<T>) -> Result<Tensor<f32>> {
        let [texts, length] = batch.shape;
        let hidden = self.config.hidden;
        let rows = x.reshape([texts, length, hidden])?;
        let sums = Gemm::new(&batch.real, &rows).run()?.reshape([texts, hidden])?;
        let norms = ops::norm(&sums, 1)?.unsqueeze(1)?;
        ops::div(&sums, &norms)
    }
}
