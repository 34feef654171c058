//! How much of a sweep is tested.

use support::by_sweep;

/// Of how many cases f32, f16 and bf16 take one, on the first of `support::devices` and on the second; in a full sweep each
/// takes all, in a short one few. What types and devices differ in is how a kernel reads.
pub(crate) fn shares(device: usize) -> [usize; 3] {
    let usual = if device == 0 { [1, 7, 11] } else { [7, 11, 13] };
    by_sweep([1, 1, 1], usual, [7, 23, 29])
}
