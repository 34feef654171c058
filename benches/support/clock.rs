//! Batches of operations on the device's clock.

use tilewise::{Gpu, Result};

/// Operations that are timed together at most: two launches each, where k is split, fit into one submission.
const MAX_TOGETHER: u64 = 31;
/// Bytes of operands that take turns, so that none is still in the device's cache from its last use: several times the
/// largest cache of a GPU, if the numbers of pairs below and the memory allow it.
const PAIRS_BYTES: u64 = 256 << 20;
const MIN_PAIRS: u64 = 2;
const MAX_PAIRS: u64 = 32;

/// How many pairs of operands, of this number of bytes each, take turns.
pub fn pair_count(gpu: &Gpu, bytes: u64) -> u64 {
    let room = gpu.caps().memory.unwrap_or(1 << 30) / 4;
    PAIRS_BYTES.div_ceil(bytes).clamp(MIN_PAIRS, MAX_PAIRS).min(room / bytes).max(1)
}

/// The median of some numbers; of an even count, the middle between the two.
pub fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let last = numbers.len() - 1;
    f64::midpoint(numbers[last / 2], numbers[last.div_ceil(2)])
}

/// How many operations of `once` seconds each fill `enough` seconds.
pub fn repetitions(once: f64, enough: f64) -> u64 {
    (1..MAX_TOGETHER).find(|&count| count as f64 * once > enough).unwrap_or(MAX_TOGETHER)
}

/// Seconds on the device's clock for `count` operations, each launched by `launch`.
pub fn seconds(gpu: &Gpu, count: u64, mut launch: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut seconds = 0.0;
    let mut left = count;
    while left > 0 {
        let now = left.min(MAX_TOGETHER);
        let ((), timing) = gpu.time(|| (0..now).try_for_each(|_| launch()))?;
        seconds += timing.seconds;
        left -= now;
    }
    Ok(seconds)
}
