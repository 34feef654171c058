//! Buffers by size class, handed out again in the order of the queue.

use crate::{Error, Result};
use std::collections::BTreeMap;

/// The smallest buffer, in bytes: also the alignment of every size.
const SMALLEST: u64 = 256;

/// Free buffers by size, and the bytes that are out. It creates nothing and touches no device.
///
/// A buffer may be handed out as soon as its last tensor is dropped: commands that still use it run before
/// those of its next owner, because both go through one queue.
pub(crate) struct Pool {
    free: BTreeMap<u64, Vec<Free>>,
    budget: u64,
    cache_at_most: u64,
    largest: u64,
    in_use: u64,
    cached: u64,
    peak: u64,
}

struct Free {
    buffer: wgpu::Buffer,
    /// The recording that touched it last.
    touched: u64,
}

/// What to do for a request.
pub(crate) enum Taken {
    /// A free buffer, and the recording that touched it last.
    Reused(wgpu::Buffer, u64),
    /// Create one of this many bytes.
    Create(u64),
}

impl Pool {
    /// A pool for at most `budget` bytes, half of which may wait for reuse; the rest stays free for other sizes
    /// and other programs. Without a budget, 1 GiB may wait. No buffer is larger than `largest`.
    pub(crate) fn new(budget: Option<u64>, largest: u64) -> Self {
        let cache_at_most = budget.map_or(1 << 30, |bytes| bytes / 2);
        let budget = budget.unwrap_or(u64::MAX);
        let largest = largest / SMALLEST * SMALLEST;
        Self { free: BTreeMap::new(), budget, cache_at_most, largest, in_use: 0, cached: 0, peak: 0 }
    }

    /// A buffer of at least `bytes` that no recording from `untouched_since` on has touched.
    /// Free buffers give way where the budget is short.
    pub(crate) fn take(&mut self, op: &'static str, bytes: u64, untouched_since: u64) -> Result<Taken> {
        if bytes > self.largest {
            let what = "the size of one buffer in bytes".into();
            return Err(Error::Limit { op, what, needed: bytes, allowed: self.largest });
        }
        let size = size_class(bytes).min(self.largest);
        let fits = |free: &Free| free.touched < untouched_since;
        let found = self.free.get_mut(&size).and_then(|list| {
            let at = list.iter().rposition(fits)?;
            Some(list.swap_remove(at))
        });
        if let Some(free) = found {
            self.cached -= size;
            self.hand_out(size);
            return Ok(Taken::Reused(free.buffer, free.touched));
        }
        let available = self.available();
        if size > available {
            return Err(Error::OutOfMemory { op, needed: size, available });
        }
        self.shrink(self.budget - self.in_use - size);
        self.hand_out(size);
        Ok(Taken::Create(size))
    }

    /// Takes back a buffer, or what could not be created.
    pub(crate) fn give(&mut self, size: u64, buffer: Option<(wgpu::Buffer, u64)>) {
        self.in_use -= size;
        if let Some((buffer, touched)) = buffer {
            self.cached += size;
            self.free.entry(size).or_default().push(Free { buffer, touched });
            self.shrink(self.cache_at_most);
        }
    }

    /// Drops free buffers, the largest first, until at most `bytes` wait.
    pub(crate) fn shrink(&mut self, bytes: u64) {
        while self.cached > bytes {
            let Some(mut list) = self.free.last_entry() else { return };
            self.cached -= *list.key();
            list.get_mut().pop();
            if list.get().is_empty() {
                list.remove();
            }
        }
    }

    fn hand_out(&mut self, size: u64) {
        self.in_use += size;
        self.peak = self.peak.max(self.in_use);
    }

    /// Bytes left of the budget.
    pub(crate) fn available(&self) -> u64 {
        self.budget.saturating_sub(self.in_use)
    }

    /// Bytes in use, waiting, and at the peak.
    pub(crate) fn usage(&self) -> [u64; 3] {
        [self.in_use, self.cached, self.peak]
    }
}

/// The next of four sizes per power of two: at most a quarter is wasted.
fn size_class(bytes: u64) -> u64 {
    let bytes = bytes.max(SMALLEST);
    let quarter = (bytes.next_power_of_two() / 8).max(SMALLEST);
    bytes.div_ceil(quarter) * quarter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_classes_waste_at_most_a_quarter() {
        for bytes in (1..5000).chain([65_537, 1 << 20, (1 << 20) + 1, 3_000_000_000]) {
            let size = size_class(bytes);
            assert!(size >= bytes && size.is_multiple_of(SMALLEST), "{bytes} -> {size}");
            assert!(size <= bytes + (bytes / 4).max(SMALLEST), "{bytes} -> {size}");
            assert_eq!(size_class(size), size, "a class must be its own");
        }
    }

    #[test]
    fn the_budget_bounds_what_is_out() {
        let mut pool = Pool::new(Some(1024), 512);
        assert!(matches!(pool.take("test", 512, 0), Ok(Taken::Create(512))));
        assert!(matches!(pool.take("test", 512, 0), Ok(Taken::Create(512))));
        let error = pool.take("test", 1, 0).err().expect("the budget is used up");
        assert!(matches!(error, Error::OutOfMemory { needed: 256, available: 0, .. }), "{error}");
        pool.give(512, None);
        let error = pool.take("test", 513, 0).err().expect("no buffer is that large");
        assert!(matches!(error, Error::Limit { needed: 513, allowed: 512, .. }), "{error}");
        assert!(matches!(pool.take("test", 1, 0), Ok(Taken::Create(256))));
        assert_eq!(pool.usage(), [768, 0, 1024]);
    }
}
