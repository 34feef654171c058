//! Split-k: the numbers of splits of a product, and the product whose splits are summed separately.

use super::gemm::GemmProblem;

/// Splits are multiples of this along k. Every tile's depth divides it, so an iteration never belongs to two splits.
const SPLIT_MULTIPLE: u32 = 32;

/// The largest number of splits that plans consider: the scratch memory for their sums grows with it.
pub(in crate::gemm) const MAX_SPLITS: u32 = 64;

impl GemmProblem {
    /// The number of non-empty splits when `requested` are requested.
    pub(in crate::gemm) fn splits_of_k(&self, requested: u32) -> u32 {
        let k = self.k().max(1);
        k.div_ceil(split_length(k, requested))
    }

    /// Length of a split of k: k, or a multiple of 32.
    pub(in crate::gemm) fn k_per_split(&self) -> u32 {
        self.splits.map_or(self.k(), |splits| split_length(self.k().max(1), splits))
    }

    /// The product that stores the sums of each split in a separate matrix, in the type of sums and without gaps.
    pub(in crate::gemm) fn split_into(&self, splits: u32) -> Self {
        let mut split = self.without_epilogue(self.type_of_sums());
        (split.layouts.c, split.splits) = (self.layouts.c.dense(), Some(splits));
        split
    }
}

/// The number of splits of an inner size `k` when `requested` are requested: fewer if k is too short.
pub(in crate::gemm) fn max_splits(k: usize, requested: u32) -> u32 {
    let units = k.div_ceil(SPLIT_MULTIPLE as usize).max(1);
    requested.min(u32::try_from(units).unwrap_or(u32::MAX))
}

fn split_length(k: u32, splits: u32) -> u32 {
    k.div_ceil(splits.max(1)).next_multiple_of(SPLIT_MULTIPLE)
}

/// Bytes of the sums of all splits.
pub(in crate::gemm) fn scratch_bytes(problem: &GemmProblem, splits: u32) -> u64 {
    let sizes = [problem.batches(), problem.m(), problem.n(), splits, 4];
    sizes.into_iter().fold(1, |bytes: u64, size| bytes.saturating_mul(size.into()))
}
