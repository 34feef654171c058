//! The grid of a launch.

use crate::{Error, Result};

/// Distributes a number of workgroups over a three-dimensional grid with at most `limit` workgroups along each axis.
///
/// The grid may have more workgroups than `blocks`. Kernels therefore compare their linear workgroup index with their number of
/// blocks.
///
/// # Errors
/// [`Error::Limit`] if `blocks` exceeds `limit`^3 or 2^31.
pub fn fold_grid(op: &'static str, blocks: u64, limit: u32) -> Result<[u32; 3]> {
    let limit = u64::from(limit.max(1));
    let blocks = blocks.max(1);
    // NOTE: 2^31 instead of 2^32, so that the indices of the surplus workgroups fit in 32 bits too.
    let allowed = (limit * limit).saturating_mul(limit).min(1 << 31);
    Error::check_limit(op, "the number of workgroups", blocks, allowed)?;
    let z = blocks.div_ceil(limit * limit);
    let y = blocks.div_ceil(z * limit);
    let x = blocks.div_ceil(z * y);
    let axis = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    Ok([axis(x), axis(y), axis(z)])
}
