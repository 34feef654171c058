//! The time of the encoder over that of its bare products: what everything else costs.

use crate::batch::{BATCH, Batch};
use crate::encoder::{Encoder, heads_of};
use crate::watch::Watch;
use crate::wordpiece::Tokens;
use std::time::Instant;
use tilewise::{Fill, Gpu, Real, Result, Tensor, matmul};

/// Tokens of each of the texts.
const LENGTH: usize = 64;
/// Rounds, each of the encoder and of the products, one after the other.
const ROUNDS: usize = 7;

/// Times of a batch of texts of 64 tokens.
pub(crate) struct Speed {
    /// The shape of the batch: texts, tokens.
    pub(crate) shape: [usize; 2],
    /// Median seconds of the encoder.
    pub(crate) encoder: f64,
    /// Median seconds of its products alone, without bias, activation and residual.
    pub(crate) products: f64,
    /// Median of the ratios of each round.
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
    let whole = || encoder.forward(&batch, &mut Watch::Nothing).map(drop);
    let products = || operands.multiply(encoder);
    whole()?;
    products()?;
    gpu.wait()?;
    let rounds: Vec<[f64; 2]> =
        (0..ROUNDS).map(|_| Ok([timed(&whole)?, timed(&products)?])).collect::<Result<_>>()?;
    let median = |of: fn(&[f64; 2]) -> f64| {
        let mut all: Vec<f64> = rounds.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        all[ROUNDS / 2]
    };
    Ok(Speed {
        shape: batch.shape,
        encoder: median(|&[whole, _]| whole),
        products: median(|&[_, products]| products),
        ratio: median(|&[whole, products]| whole / products),
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

    /// All products of the layers: four by weights, and two of each head.
    fn multiply(&self, encoder: &Encoder<T>) -> Result<()> {
        let Self { x, inner, heads: [q, k, v], weights } = self;
        for layer in &encoder.layers {
            for linear in [&layer.projections, &layer.output, &layer.expand] {
                matmul(x, &linear.weight().t())?;
            }
            matmul(inner, &layer.contract.weight().t())?;
            matmul(q, &k.t())?;
            matmul(weights, v)?;
        }
        Ok(())
    }
}
