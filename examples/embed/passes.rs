//! Passes of all texts through the encoder, batch by batch.

use crate::batch::{BATCH, Batch, shape_of};
use crate::encoder::{EMBEDDING, Encoder, POOLING};
use crate::watch::Watch;
use crate::wordpiece::Tokens;
use std::collections::BTreeMap;
use std::time::Instant;
use tilewise::{Gpu, Plan, Real, Result};

/// The shader that adds the sums of a product whose k is split.
const REDUCTION: &str = "gemm/reduce_splits";

/// The embeddings of texts, and what they cost.
pub(crate) struct Embedded {
    /// The embeddings, each of norm 1, in the order of the texts.
    pub(crate) embeddings: Vec<Vec<f64>>,
    /// Seconds from the first upload to the last read.
    pub(crate) seconds: f64,
    /// Tokens of the texts, without padding.
    pub(crate) tokens: usize,
    /// The most launches of a layer, without those that only add the sums of a product whose k is split.
    pub(crate) launches_per_layer: u64,
}

/// Embeds all texts.
pub(crate) fn embed<T: Real>(
    gpu: &Gpu,
    encoder: &Encoder<T>,
    texts: &[Tokens],
    padding: i32,
) -> Result<Embedded> {
    // Their kernels are compiled before they are timed.
    let mut added = BTreeMap::new();
    for texts in one_of_each_length(texts) {
        added.insert(shape_of(texts), reductions(&layer_plans(gpu, encoder, texts, padding)?));
    }
    gpu.wait()?;
    let (mut embeddings, mut launches_per_layer) = (Vec::new(), 0);
    let begin = Instant::now();
    for texts in texts.chunks(BATCH) {
        let batch = Batch::new(gpu, texts, padding)?;
        let pass = encoder.forward(&batch, &mut Watch::Nothing)?;
        let values = pass.embeddings.to_vec()?;
        embeddings.extend(
            values.chunks(encoder.config.hidden).map(|row| row.iter().copied().map(f64::from).collect()),
        );
        let added = added.get(&batch.shape).copied().unwrap_or(0);
        let counted = pass.launches.into_iter().map(|launches| launches.saturating_sub(added));
        launches_per_layer = counted.fold(launches_per_layer, u64::max);
    }
    let seconds = begin.elapsed().as_secs_f64();
    let tokens = texts.iter().map(|text| text.ids.len()).sum();
    Ok(Embedded { embeddings, seconds, tokens, launches_per_layer })
}

/// A batch of each padded length.
fn one_of_each_length(texts: &[Tokens]) -> impl Iterator<Item = &[Tokens]> {
    let batches = texts.chunks(BATCH).map(|texts| (shape_of(texts), texts));
    batches.collect::<BTreeMap<_, _>>().into_values()
}

/// The longest batch.
pub(crate) fn longest_batch(texts: &[Tokens]) -> &[Tokens] {
    texts.chunks(BATCH).max_by_key(|texts| shape_of(texts)[1]).unwrap_or_default()
}

/// The plans of a layer for a batch, as they run.
pub(crate) fn layer_plans<T: Real>(
    gpu: &Gpu,
    encoder: &Encoder<T>,
    texts: &[Tokens],
    padding: i32,
) -> Result<Vec<(&'static str, Plan)>> {
    let mut watch = Watch::Plans(Vec::new());
    encoder.first_layer(&Batch::new(gpu, texts, padding)?, &mut watch)?;
    let Watch::Plans(mut all) = watch else { return Ok(Vec::new()) };
    all.retain(|(name, _)| ![EMBEDDING, POOLING].contains(name));
    Ok(all)
}

/// The launches that only add the sums of products whose k is split.
pub(crate) fn reductions(plans: &[(&'static str, Plan)]) -> u64 {
    let steps = plans.iter().flat_map(|(_, plan)| plan.steps());
    steps.filter(|step| step.kernel.shader() == REDUCTION).map(|_| 1).sum()
}

/// The seconds of each kind of step in a pass of a batch, each step run alone. Those of the first layer stand for all.
pub(crate) fn shares<T: Real>(
    gpu: &Gpu,
    encoder: &Encoder<T>,
    texts: &[Tokens],
    padding: i32,
) -> Result<Vec<(&'static str, f64)>> {
    let mut watch = Watch::Seconds(Vec::new());
    encoder.first_layer(&Batch::new(gpu, texts, padding)?, &mut watch)?;
    let Watch::Seconds(mut all) = watch else { return Ok(Vec::new()) };
    for (name, seconds) in &mut all {
        if ![EMBEDDING, POOLING].contains(name) {
            *seconds *= encoder.config.layers as f64;
        }
    }
    Ok(all)
}
