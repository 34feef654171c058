//! What sketches are tested on.

use crate::support;

/// The devices that differ in how elements lie in memory and how dims travel: f16 and immediates, and neither.
pub(crate) fn devices() -> Vec<support::TestGpu> {
    [support::own(|_| ()), support::bare()].into_iter().flatten().collect()
}

/// Every how many cases f32, f16 and bf16 take on the first of [`devices`] and on the second: f32 takes all, with
/// `TILEWISE_SWEEP=full` all take all. What types and devices differ in is how a kernel reads.
pub(crate) fn shares(device: usize) -> [usize; 3] {
    match (std::env::var("TILEWISE_SWEEP").as_deref(), device) {
        (Ok("full"), _) => [1, 1, 1],
        (_, 0) => [1, 7, 11],
        _ => [7, 11, 13],
    }
}
