//! Sets of operands that take turns, so that no cache holds them from their last use.
//!
//! Results are written to one place: launches that write the same buffer run one after another, and do not flatter the figure
//! by overlapping.

use serde::{Deserialize, Serialize};
use tilewise::{Gpu, Result};

/// Sets at least, unless there is no memory for them.
const FEWEST: u64 = 2;
/// Bytes of all sets of the benches, several times the largest cache of a GPU, and their sets at most: `torch_gemm.py` has as many.
const BYTES: u64 = 256 << 20;
const MOST: u64 = 32;
/// How many times the last cache sets hold that are chosen by it, and their number at most.
const CACHES: u64 = 2;
const MOST_BY_CACHE: u64 = 256;
/// Bytes of a device whose memory is not known.
const MEMORY: u64 = 1 << 30;

/// Bytes that all sets may have: a quarter of the device's memory.
pub fn room(gpu: &Gpu) -> u64 {
    gpu.caps().memory.unwrap_or(MEMORY) / 4
}

/// How many sets take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turns {
    pub sets: u64,
    /// Bytes of the operands of one set.
    pub set_bytes: u64,
    /// Whether all sets together fit in the device's last cache. What is read then need not come from memory.
    pub in_cache: bool,
}

impl Turns {
    /// Of operations whose operands have this number of bytes: too many sets for any cache.
    pub fn of(gpu: &Gpu, set_bytes: usize) -> Self {
        Self::new(gpu, set_bytes as u64, BYTES, MOST)
    }

    /// As many sets as the device's own last cache does not hold, as far as it is known.
    pub fn by_cache(gpu: &Gpu, set_bytes: u64) -> Self {
        Self::new(gpu, set_bytes, gpu.caps().machine.cache_size.saturating_mul(CACHES), MOST_BY_CACHE)
    }

    fn new(gpu: &Gpu, set_bytes: u64, bytes: u64, most: u64) -> Self {
        let set_bytes = set_bytes.max(1);
        let sets = bytes.div_ceil(set_bytes).clamp(FEWEST, most).min(room(gpu) / set_bytes).max(1);
        let in_cache = sets.saturating_mul(set_bytes) <= gpu.caps().machine.cache_size;
        Self { sets, set_bytes, in_cache }
    }

    /// Bytes of all sets.
    pub fn bytes(self) -> u64 {
        self.sets.saturating_mul(self.set_bytes)
    }

    /// A set for each turn. All hold the same values, in different places in memory.
    pub fn sets<T>(self, mut set: impl FnMut() -> Result<T>) -> Result<Vec<T>> {
        (0..self.sets).map(|_| set()).collect()
    }
}
