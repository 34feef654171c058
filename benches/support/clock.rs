//! Batches of operations on the device's clock.

use tilewise::gpu::{Clock, Timing};
use tilewise::{Gpu, Result};

/// Operations that are timed together at most: two launches each, where k is split, fit into one submission.
pub const MAX_TOGETHER: u64 = 31;

/// Seconds on the device's clock for `count` operations, each launched by `launch`.
pub fn seconds(gpu: &Gpu, count: u64, launch: impl FnMut() -> Result<()>) -> Result<f64> {
    time(gpu, count, MAX_TOGETHER, launch).map(|timing| timing.seconds)
}

/// The time of `count` operations, `together` of which are one submission, and the clock that measured it.
pub fn time(gpu: &Gpu, count: u64, together: u64, mut launch: impl FnMut() -> Result<()>) -> Result<Timing> {
    let mut all = Timing { seconds: 0.0, clock: Clock::Gpu };
    let mut left = count;
    while left > 0 {
        let now = left.min(together);
        let ((), timing) = gpu.time(|| (0..now).try_for_each(|_| launch()))?;
        all = Timing { seconds: all.seconds + timing.seconds, ..timing };
        left -= now;
    }
    Ok(all)
}
