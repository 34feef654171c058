//! Passes of all texts through the encoder, batch by batch.

use crate::batch::{BATCH, Batch, shape_of};
use crate::encoder::{EMBEDDING, Encoder, POOLING, reductions};
use crate::watch::Watch;
use crate::wordpiece::Tokens;
use std::collections::BTreeMap;
use std::time::Instant;
use tilewise::{Gpu, Real, Result};

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
    for texts in one_of_each_length(texts) {
        encoder.first_layer(&Batch::new(gpu, texts, padding)?, &mut Watch::Nothing)?;
    }
    gpu.wait()?;
    let (mut embeddings, mut launches) = (Vec::new(), BTreeMap::<usize, u64>::new());
    let begin = Instant::now();
    for texts in texts.chunks(BATCH) {
        let batch = Batch::new(gpu, texts, padding)?;
        let pass = encoder.forward(&batch, &mut Watch::Nothing)?;
        let values = pass.embeddings.to_vec()?;
        embeddings.extend(
            values.chunks(encoder.config.hidden).map(|row| row.iter().copied().map(f64::from).collect()),
        );
        let most = launches.entry(batch.shape[0] * batch.shape[1]).or_default();
        *most = pass.launches.into_iter().fold(*most, u64::max);
    }
    let seconds = begin.elapsed().as_secs_f64();
    let mut launches_per_layer = 0;
    for (rows, launches) in launches {
        let added = reductions(&encoder.plans(rows)?);
        launches_per_layer = launches_per_layer.max(launches.saturating_sub(added));
    }
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
