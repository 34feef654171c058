//! Sets of operands that take turns, so that a cache does not hold them from their last use.
//!
//! Results are written to one place: launches that write the same buffer run one after another, and do not flatter the figure
//! by overlapping.

use crate::case::Case;
use crate::fits;
use serde::{Deserialize, Serialize};
use tilewise::{Error, Gpu, Result};

/// Sets hold this many times the bytes of the device's last cache, unless that takes more sets than `MOST`.
const CACHES: u64 = 2;
const FEWEST: u64 = 2;
const MOST: u64 = 256;
/// Of a device whose memory is not known.
const MEMORY: u64 = 1 << 30;

/// Bytes that all sets may have: a quarter of the device's memory.
pub(crate) fn room(gpu: &Gpu) -> u64 {
    gpu.caps().memory.unwrap_or(MEMORY) / 4
}

/// How many sets take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Turns {
    pub(crate) sets: u64,
    /// Bytes of the operands of one set.
    pub(crate) set_bytes: u64,
    /// Whether all sets together fit in the device's last cache. What is read then need not come from memory.
    pub(crate) in_cache: bool,
}

impl Turns {
    /// Of operations whose operands have this number of bytes.
    pub(crate) fn of(gpu: &Gpu, set_bytes: u64) -> Self {
        let (set_bytes, cache) = (set_bytes.max(1), gpu.caps().machine.cache_size);
        let wanted = cache.saturating_mul(CACHES).div_ceil(set_bytes);
        let sets = wanted.clamp(FEWEST, MOST).min(room(gpu) / set_bytes).max(1);
        Self { sets, set_bytes, in_cache: sets.saturating_mul(set_bytes) <= cache }
    }

    /// Of a case.
    pub(crate) fn of_case(gpu: &Gpu, case: &Case) -> Result<Self> {
        let bytes = fits::operand_bytes(case);
        Ok(Self::of(gpu, bytes.map_err(|why| Error::Input { what: case.to_string(), why })?))
    }

    /// Bytes of all sets.
    pub(crate) fn bytes(self) -> u64 {
        self.sets.saturating_mul(self.set_bytes)
    }

    /// A set for each turn. All hold the same values, in different places in memory.
    pub(crate) fn sets<T>(self, mut set: impl FnMut() -> Result<T>) -> Result<Vec<T>> {
        (0..self.sets).map(|_| set()).collect()
    }
}
