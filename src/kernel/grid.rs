//! The grid of a launch.

use crate::{Error, Result};

/// Folds `blocks` workgroups over a grid of at most `limit` along each axis, as evenly as it goes; the last row of the
/// fold may run past the end, so kernels compare their block index with their own number of blocks.
///
/// # Errors
/// [`Error::Limit`] if they do not fit in three axes, or are more than 2^31.
pub fn fold(op: &'static str, blocks: u64, limit: u32) -> Result<[u32; 3]> {
    let limit = u64::from(limit.max(1));
    let blocks = blocks.max(1);
    // Half of what 32 bits count, so that the idle rest of the fold has an index too.
    let allowed = (limit * limit).saturating_mul(limit).min(1 << 31);
    if blocks > allowed {
        return Err(Error::Limit { op, what: "the number of workgroups".into(), needed: blocks, allowed });
    }
    let z = blocks.div_ceil(limit * limit);
    let y = blocks.div_ceil(z * limit);
    let x = blocks.div_ceil(z * y);
    let axis = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    Ok([axis(x), axis(y), axis(z)])
}
