//! Holds embeddings and intermediate results against the stored ones.

use crate::batch::{BATCH, Batch};
use crate::encoder::Encoder;
use crate::reference::{Expected, Stored};
use crate::similarity::{Similarities, cosine};
use crate::tolerance::Tolerance;
use crate::watch::Watch;
use crate::wordpiece::Tokens;
use tilewise::{Error, Gpu, Real, Result};

/// The sentences whose intermediate results are stored.
const COMPARED: [usize; 2] = [5, 29];

/// The largest error of some values, and the one that is allowed.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) error: f64,
    pub(crate) allowed: f64,
}

/// What a check has found.
pub(crate) struct Found {
    pub(crate) rows: Vec<Row>,
    /// Sentences with another nearest one than is stored, and the number of those that were checked.
    pub(crate) other_nearest: Vec<usize>,
    pub(crate) sentences: usize,
    /// Paraphrases that are not each other's nearest, and the number of all.
    pub(crate) lost_pairs: Vec<[usize; 2]>,
    pub(crate) pairs: usize,
    /// Texts with other tokens than are stored, and the number of all. The published vocabulary has other rows.
    pub(crate) tokens: Option<(Vec<String>, usize)>,
}

impl Row {
    pub(crate) fn ratio(&self) -> f64 {
        self.error / self.allowed
    }
}

/// The larger error, and infinity for NaN.
fn larger(worst: f64, error: f64) -> f64 {
    worst.max(if error.is_nan() { f64::INFINITY } else { error })
}

impl Found {
    /// Compares the embeddings of the stored sentences, or of the first of them.
    pub(crate) fn of(
        embeddings: &[Vec<f64>],
        stored: &Stored,
        expected: &Expected,
        tolerance: Tolerance,
    ) -> Self {
        let (mut entry, mut apart) = (0.0, 0.0);
        for (found, known) in embeddings.iter().zip(&expected.embeddings) {
            entry = found.iter().zip(known).map(|(a, b)| (a - b).abs()).fold(entry, larger);
            let norms = [found, known].map(|vector| cosine(vector, vector).sqrt());
            let distance = |(a, b): (&f64, &f64)| (a / norms[0] - b / norms[1]).powi(2);
            apart = larger(apart, found.iter().zip(known).map(distance).sum::<f64>() / 2.0);
        }
        let row = |name: &str, error, allowed| Row { name: name.into(), error, allowed };
        let similarities = Similarities::of(embeddings);
        let nearest = |index| similarities.nearest(index).map(|(nearest, _)| nearest);
        let has = |index: &usize| *index < embeddings.len();
        let all = stored.sentences.iter().enumerate().filter(|(index, s)| has(index) && has(&s.nearest));
        let clear = all.filter(|(_, sentence)| sentence.margin > tolerance.margin);
        let other = clear.clone().filter(|&(index, sentence)| nearest(index) != Some(sentence.nearest));
        let pairs = stored.pairs.iter().copied().filter(|pair| pair.iter().all(has));
        let is_pair = |&[a, b]: &[usize; 2]| nearest(a) == Some(b) && nearest(b) == Some(a);
        Self {
            rows: vec![row("embeddings", entry, tolerance.entry), row("1 - cosine", apart, tolerance.cosine)],
            other_nearest: other.map(|(index, _)| index).collect(),
            sentences: clear.count(),
            lost_pairs: pairs.clone().filter(|pair| !is_pair(pair)).collect(),
            pairs: pairs.count(),
            tokens: None,
        }
    }

    /// The largest error over the one that is allowed.
    pub(crate) fn bound_ratio(&self) -> f64 {
        self.rows.iter().map(Row::ratio).fold(0.0, larger)
    }

    pub(crate) fn ok(&self) -> bool {
        self.bound_ratio() <= 1.0
            && self.other_nearest.is_empty()
            && self.lost_pairs.is_empty()
            && self.tokens.as_ref().is_none_or(|(others, _)| others.is_empty())
    }
}

/// Compares the outputs of all layers, and the results within the first, for the sentences of which they are stored.
pub(crate) fn compare<T: Real>(
    gpu: &Gpu,
    encoder: &Encoder<T>,
    tokens: &[Tokens],
    padding: i32,
    expected: &Expected,
    tolerance: Tolerance,
) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for sentence in COMPARED.into_iter().filter(|&sentence| sentence < tokens.len()) {
        let first = sentence / BATCH * BATCH;
        let batch = Batch::new(gpu, &tokens[first..tokens.len().min(first + BATCH)], padding)?;
        let mut watch = Watch::Values(Vec::new());
        encoder.forward(&batch, &mut watch)?;
        let Watch::Values(kept) = watch else { return Ok(rows) };
        let (length, real) = (batch.shape[1], tokens[sentence].ids.len());
        for (name, width, known) in expected.intermediates(sentence)? {
            let start = format!("s{sentence}.");
            let found = kept.iter().find(|kept| name.strip_prefix(&start) == Some(&kept.name));
            let Some(found) = found.filter(|kept| kept.width == width && known.len() >= real * width) else {
                let why = format!("({}, {width}) is no result of this encoder", known.len() / width.max(1));
                return Err(Error::Input { what: format!("expected.safetensors: {name}"), why });
            };
            let values = &found.values[(sentence - first) * length * width..][..real * width];
            let largest = known.iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
            let error = values.iter().zip(&known).map(|(a, b)| (a - b).abs() / largest).fold(0.0, larger);
            let is_layer = name.split('.').count() <= 3;
            let allowed = if is_layer { tolerance.layer } else { tolerance.inner };
            rows.push(Row { name, error, allowed });
        }
    }
    Ok(rows)
}
