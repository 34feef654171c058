//! Cosine similarities of embeddings.

/// The cosines of all pairs of embeddings, which have the norm 1.
pub(crate) struct Similarities {
    count: usize,
    cosines: Vec<f64>,
}

/// The cosine of two vectors of norm 1.
pub(crate) fn cosine(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The embeddings in the order of their cosines with a query, the largest first: index and cosine.
pub(crate) fn ranked(query: &[f64], embeddings: &[Vec<f64>]) -> Vec<(usize, f64)> {
    let mut all: Vec<(usize, f64)> =
        embeddings.iter().map(|embedding| cosine(query, embedding)).enumerate().collect();
    all.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    all
}

impl Similarities {
    pub(crate) fn of(embeddings: &[Vec<f64>]) -> Self {
        let row = |a: &Vec<f64>| embeddings.iter().map(|b| cosine(a, b)).collect::<Vec<_>>();
        Self { count: embeddings.len(), cosines: embeddings.iter().flat_map(row).collect() }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn row(&self, index: usize) -> &[f64] {
        &self.cosines[index * self.count..][..self.count]
    }

    /// The most similar other embedding.
    pub(crate) fn nearest(&self, index: usize) -> Option<(usize, f64)> {
        let others = self.row(index).iter().copied().enumerate().filter(|&(other, _)| other != index);
        others.max_by(|(_, a), (_, b)| a.total_cmp(b))
    }
}
