//! The sizes of a weight, and the ranks of sketched layers that save parameters.

/// Recommended ranks are rounded up to multiples of this, the width of tensor core tiles.
const TILE: usize = 16;
/// Largest factor by which rounding up may raise a rank.
const MAX_ROUNDING: f64 = 1.2;

/// The sizes of a weight (out, in), and the costs of layers of these sizes. Counts are for one term; a layer with T
/// terms of rank R costs as much as one term of rank TR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
}

impl Sizes {
    /// Parameters of the dense layer.
    pub(crate) fn dense(self) -> usize {
        self.rows * self.cols
    }

    /// Parameters of the sketched layer per unit of rank.
    pub(crate) fn per_rank(self) -> usize {
        2 * (self.rows + self.cols)
    }

    /// The largest rank with fewer parameters than the dense layer, or 0 if no rank has fewer.
    pub(crate) fn max_rank(self) -> usize {
        self.dense().saturating_sub(1) / self.per_rank().max(1)
    }

    /// The largest rank with at most this share of the dense layer's parameters, and with fewer parameters than it.
    pub(crate) fn max_rank_within(self, share: f64) -> usize {
        // NOTE: a share that was computed from a number of parameters must allow that number, even if the share was
        // rounded down.
        let params = share * self.dense() as f64 * (1.0 + 4.0 * f64::EPSILON);
        (1..=self.max_rank())
            .take_while(|&rank| (rank * self.per_rank()) as f64 <= params)
            .last()
            .unwrap_or(0)
    }

    /// The smallest rank whose error is at most this, among those with fewer parameters than the dense layer.
    pub(crate) fn min_rank_reaching(self, error: f64, of_rank: impl Fn(usize) -> f64) -> Option<usize> {
        (1..=self.max_rank()).find(|&rank| of_rank(rank) <= error)
    }

    /// The rank rounded up to a multiple of a tensor core tile, if that is not much larger and still saves parameters.
    pub(crate) fn rounded(self, rank: usize) -> usize {
        let next = rank.next_multiple_of(TILE);
        if next as f64 <= MAX_ROUNDING * rank as f64 && next <= self.max_rank() { next } else { rank }
    }
}

/// Explains how `rank` was rounded from `least`, the rank that the budget gives.
pub(crate) fn rounding(rank: usize, least: usize) -> String {
    let next = least.next_multiple_of(TILE);
    if rank > least {
        format!("rounded up from {least} to a multiple of {TILE}")
    } else if next == rank {
        format!("a multiple of {TILE}")
    } else if next as f64 > MAX_ROUNDING * rank as f64 {
        format!("no multiple of {TILE}: the next, {next}, is more than {MAX_ROUNDING} times larger")
    } else {
        format!("no multiple of {TILE}: the next, {next}, is beyond the budget or saves nothing")
    }
}
