//! The time of the encoder over that of its bare products: what everything else costs.

use crate::batch::{BATCH, Batch};
use crate::encoder::{Encoder, heads_of};
use crate::passes::{layer_plans, reductions};
use crate::watch::Watch;
use crate::wordpiece::Tokens;
use std::time::Instant;
use tilewise::{Fill, Gpu, Real, Result, Tensor, matmul};

/// Tokens of each of the texts.
const LENGTH: usize = 64;
/// Rounds, each of the encoder, of all products and of those by weights, one after the other.
const ROUNDS: usize = 7;

/// Times of a batch of texts of 64 tokens.
pub(crate) struct Speed {
    /// The shape of the batch: texts, tokens.
    pub(crate) shape: [usize; 2],
    /// The most launches of a layer, without those that only add the sums of a product whose k is split.
    pub(crate) launches_per_layer: u64,
    /// Median seconds of the encoder.
    pub(crate) encoder: f64,
    /// Its products alone, without bias, activation and residual.
    pub(crate) products: Alone,
    /// Those of them that multiply by weights: not the two of each head in attention.
    pub(crate) by_weights: Alone,
}

/// The time of some of the encoder's products.
pub(crate) struct Alone {
    /// Median seconds.
    pub(crate) seconds: f64,
    /// Median, over the rounds, of the encoder's time over theirs.
    pub(crate) ratio: f64,
}

/// The operands of a layer's products.
struct Operands<T: Real> {
    x: Tensor<T>,
    inner: Tensor<T>,
    /// Queries, keys and values, as views of one product.
    heads: [Tensor<T>; 3],
    weights: Tensor<T>,
}

/// Times the encoder and its bare products, in turns.
pub(crate) fn speed<T: Real>(gpu: &Gpu, encoder: &Encoder<T>, padding: i32) -> Result<Speed> {
    let rows = encoder.config.vocabulary.min(1000);
    let length = LENGTH.min(encoder.config.positions);
    let text = |text: usize| {
        let ids = (0..length).map(|at| i32::try_from((text * length + at) % rows).unwrap_or(0)).collect();
        Tokens { ids, whole: length }
    };
    let texts: Vec<Tokens> = (0..BATCH).map(text).collect();
    let batch = Batch::new(gpu, &texts, padding)?;
    let operands = Operands::new(gpu, encoder, batch.shape)?;
    let timed = |work: &dyn Fn() -> Result<()>| {
        let begin = Instant::now();
        work()?;
        gpu.wait()?;
        Ok(begin.elapsed().as_secs_f64())
    };
    let works: [&dyn Fn() -> Result<()>; 3] = [
        &|| encoder.forward(&batch, &mut Watch::Nothing).map(drop),
        &|| operands.multiply_by_weights(encoder).and_then(|()| operands.multiply_heads(encoder)),
        &|| operands.multiply_by_weights(encoder),
    ];
    let pass = encoder.forward(&batch, &mut Watch::Nothing)?;
    let added = reductions(&layer_plans(gpu, encoder, &texts, padding)?);
    works.iter().try_for_each(|work| work())?;
    gpu.wait()?;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push([timed(works[0])?, timed(works[1])?, timed(works[2])?]);
    }
    let median = |of: &dyn Fn(&[f64; 3]) -> f64| {
        let mut all: Vec<f64> = rounds.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        all[ROUNDS / 2]
    };
    let alone =
        |i: usize| Alone { seconds: median(&|round| round[i]), ratio: median(&|round| round[0] / round[i]) };
    Ok(Speed {
        shape: batch.shape,
        launches_per_layer: pass.launches.into_iter().max().unwrap_or(0).saturating_sub(added),
        encoder: median(&|round| round[0]),
        products: alone(1),
        by_weights: alone(2),
    })
}

impl<T: Real> Operands<T> {
    fn new(gpu: &Gpu, encoder: &Encoder<T>, shape: [usize; 2]) -> Result<Self> {
        let config = encoder.config;
        let [texts, length] = shape;
        let random = |shape: &[usize]| gpu.random::<T>(shape, Fill::Uniform, 1);
        Ok(Self {
            x: random(&[texts * length, config.hidden])?,
            inner: random(&[texts * length, config.inner])?,
            heads: heads_of(&random(&[texts * length, 3 * config.hidden])?, shape, config.heads)?,
            weights: random(&[texts, config.heads, length, length])?,
        })
    }

    /// The four products of each layer by its weights.
    fn multiply_by_weights(&self, encoder: &Encoder<T>) -> Result<()> {
        for layer in &encoder.layers {
            for linear in [&layer.projections, &layer.output, &layer.expand] {
                matmul(&self.x, &linear.weight().t())?;
            }
            matmul(&self.inner, &layer.contract.weight().t())?;
        }
        Ok(())
    }

    /// The two products of each head.
    fn multiply_heads(&self, encoder: &Encoder<T>) -> Result<()> {
        let [q, k, v] = &self.heads;
        for _ in &encoder.layers {
            matmul(q, &k.t())?;
            matmul(&self.weights, v)?;
        }
        Ok(())
    }
}
