//! A pool of buffers by size class. The order of the queue makes immediate reuse safe.

use crate::gpu::kernels::lifetimes::MemoryNeed;
use crate::{Error, Result};
use std::collections::BTreeMap;

/// Size of the smallest buffer in bytes, and the granularity of all sizes.
const SMALLEST: u64 = 256;

/// Free buffers by size, and the number of bytes in use. It creates no buffers and makes no call of wgpu. It returns
/// the buffers that it evicts: the caller must drop them while it holds no lock.
///
/// A buffer may be reused as soon as its last tensor is dropped. Commands that still use it run before those of its
/// next owner, because both go through one queue.
pub(in crate::gpu) struct Pool<B> {
    /// Free buffers by size; no list is empty. `cached` is the sum of the sizes.
    free: BTreeMap<u64, Vec<Free<B>>>,
    /// Recordings whose commands may run later than others, with the unused buffers that they used last. Those buffers
    /// count as used.
    held_back: Vec<(u64, Vec<(u64, B)>)>,
    budget: u64,
    max_cached: u64,
    largest: u64,
    in_use: u64,
    cached: u64,
    peak: u64,
}

struct Free<B> {
    buffer: B,
    /// Number of the last recording that used it.
    last_use: u64,
}

/// The answer to a request.
#[derive(Debug)]
pub(in crate::gpu) enum PoolAnswer<B> {
    /// A free buffer, and the last recording that used it.
    Reused(B, u64),
    /// Instructions to drop these buffers, then create one of this many bytes.
    Create(u64, Vec<B>),
}

/// Bytes of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gpu) struct Usage {
    pub(in crate::gpu) in_use: u64,
    pub(in crate::gpu) cached: u64,
    pub(in crate::gpu) peak: u64,
    /// Unused bytes of the budget; None without one.
    pub(in crate::gpu) available: Option<u64>,
}

/// The name of the limit that a buffer exceeds if it is too large.
pub(in crate::gpu) const ONE_BUFFER: &str = "the size of one buffer in bytes";

impl<B> Pool<B> {
    /// Creates a pool. Buffers in use and free buffers together have at most `budget` bytes; free buffers have at most
    /// `max_cached` bytes. No buffer is larger than `largest`.
    pub(in crate::gpu) fn new(budget: Option<u64>, max_cached: u64, largest: u64) -> Self {
        let budget = budget.unwrap_or(u64::MAX);
        let largest = largest / SMALLEST * SMALLEST;
        let (free, held_back) = (BTreeMap::new(), Vec::new());
        Self { free, held_back, budget, max_cached, largest, in_use: 0, cached: 0, peak: 0 }
    }

    /// Takes a buffer of at least `bytes` that no recording from number `unused_since` on uses. Evicts free buffers if
    /// the budget is short.
    pub(in crate::gpu) fn take(
        &mut self,
        op: &'static str,
        bytes: u64,
        unused_since: u64,
    ) -> Result<PoolAnswer<B>> {
        let size = self.class_that_fits(op, bytes)?;
        if let Some(free) = self.take_free(size, unused_since) {
            self.hand_out(size);
            return Ok(PoolAnswer::Reused(free.buffer, free.last_use));
        }
        let evicted = self.shrink(self.budget - self.in_use - size);
        self.hand_out(size);
        Ok(PoolAnswer::Create(size, evicted))
    }

    /// Returns a buffer of `size` to the pool; if `buffer` is None, only its bytes. Returns the buffers to drop.
    pub(in crate::gpu) fn give(&mut self, size: u64, buffer: Option<(B, u64)>) -> Vec<B> {
        let Some((buffer, last_use)) = buffer else {
            self.in_use -= size;
            return Vec::new();
        };
        if let Some((_, held)) = self.held_back.iter_mut().find(|(recording, _)| *recording == last_use) {
            held.push((size, buffer));
            return Vec::new();
        }
        self.in_use -= size;
        self.cached += size;
        self.free.entry(size).or_default().push(Free { buffer, last_use });
        self.shrink(self.max_cached)
    }

    /// From now on, no request gets a buffer that this recording used last, whether the buffer is free now or returned
    /// later.
    pub(in crate::gpu) fn hold_back(&mut self, recording: u64) {
        let mut held = Vec::new();
        for (&size, list) in &mut self.free {
            for free in list.extract_if(.., |free| free.last_use == recording) {
                self.cached -= size;
                self.in_use += size;
                held.push((size, free.buffer));
            }
        }
        self.free.retain(|_, list| !list.is_empty());
        self.peak = self.peak.max(self.in_use);
        self.held_back.push((recording, held));
    }

    /// Ends [`hold_back`](Self::hold_back). Returns the buffers to drop.
    pub(in crate::gpu) fn let_go(&mut self, recording: u64) -> Vec<B> {
        let Some(at) = self.held_back.iter().position(|(held, _)| *held == recording) else {
            return Vec::new();
        };
        let (_, held) = self.held_back.swap_remove(at);
        held.into_iter().flat_map(|(size, buffer)| self.give(size, Some((buffer, recording)))).collect()
    }

    /// Evicts free buffers, largest first, until their total is at most `bytes`.
    pub(in crate::gpu) fn shrink(&mut self, bytes: u64) -> Vec<B> {
        let mut evicted = Vec::new();
        while self.cached > bytes {
            let Some(mut list) = self.free.last_entry() else { break };
            let size = *list.key();
            evicted.extend(list.get_mut().pop().map(|free| free.buffer));
            if list.get().is_empty() {
                list.remove();
            }
            self.cached -= size;
        }
        evicted
    }

    /// Resets the peak to the bytes that are in use now.
    pub(in crate::gpu) fn reset_peak(&mut self) {
        self.peak = self.in_use;
    }

    pub(in crate::gpu) fn usage(&self) -> Usage {
        let available = (self.budget < u64::MAX).then(|| self.available());
        Usage { in_use: self.in_use, cached: self.cached, peak: self.peak, available }
    }

    /// Unused bytes of the budget, as if all free buffers were evicted.
    fn available(&self) -> u64 {
        self.budget.saturating_sub(self.in_use)
    }

    /// Size of the buffer that a request for `bytes` gets.
    pub(in crate::gpu) fn class(&self, bytes: u64) -> u64 {
        size_class(bytes.min(self.largest)).min(self.largest)
    }

    /// Fails if there is not enough memory for these buffers.
    pub(in crate::gpu) fn check_memory(&self, op: &'static str, need: MemoryNeed) -> Result<()> {
        let MemoryNeed { peak, largest } = need;
        Error::check_limit(op, ONE_BUFFER, largest, self.largest)?;
        if peak > self.available() {
            return Err(Error::OutOfMemory { op, needed: peak, available: self.usage().available });
        }
        Ok(())
    }

    fn class_that_fits(&self, op: &'static str, bytes: u64) -> Result<u64> {
        let size = self.class(bytes);
        self.check_memory(op, MemoryNeed { peak: size, largest: bytes })?;
        Ok(size)
    }

    fn take_free(&mut self, size: u64, unused_since: u64) -> Option<Free<B>> {
        let list = self.free.get_mut(&size)?;
        let at = list.iter().rposition(|free| free.last_use < unused_since)?;
        let free = list.swap_remove(at);
        if list.is_empty() {
            self.free.remove(&size);
        }
        self.cached -= size;
        Some(free)
    }

    fn hand_out(&mut self, size: u64) {
        self.in_use += size;
        self.peak = self.peak.max(self.in_use);
    }
}

/// Rounds up to one of four sizes per power of two, which wastes at most a quarter.
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
        let mut pool = Pool::<u32>::new(Some(1024), 512, 512);
        for _ in 0..2 {
            assert!(
                matches!(pool.take("test", 512, 0), Ok(PoolAnswer::Create(512, evicted)) if evicted.is_empty())
            );
        }
        let error = pool.take("test", 1, 0).expect_err("the budget is used up");
        assert!(matches!(error, Error::OutOfMemory { needed: 256, available: Some(0), .. }), "{error}");
        pool.give(512, None);
        let error = pool.take("test", 513, 0).expect_err("no buffer is that large");
        assert!(matches!(error, Error::Limit { needed: 513, allowed: 512, .. }), "{error}");
        assert!(matches!(pool.take("test", 1, 0), Ok(PoolAnswer::Create(256, _))));
        assert_eq!(pool.usage(), Usage { in_use: 768, cached: 0, peak: 1024, available: Some(256) });
        pool.reset_peak();
        assert_eq!(pool.usage().peak, 768);
    }

    #[test]
    fn what_a_recording_used_last_can_be_held_back() {
        let mut pool = Pool::<u32>::new(None, 4096, 1024);
        for _ in 0..4 {
            assert!(matches!(pool.take("test", 256, 0), Ok(PoolAnswer::Create(256, _))));
        }
        for (buffer, last_use) in [(1, 5), (2, 6)] {
            assert!(pool.give(256, Some((buffer, last_use))).is_empty());
        }
        pool.hold_back(6);
        assert!(pool.give(256, Some((3, 6))).is_empty(), "returned later");
        assert_eq!((pool.usage().in_use, pool.usage().cached), (768, 256));
        assert!(matches!(pool.take("test", 256, 9), Ok(PoolAnswer::Reused(1, 5))));
        assert!(
            matches!(pool.take("test", 256, 9), Ok(PoolAnswer::Create(256, _))),
            "the others are held back"
        );
        assert!(pool.let_go(6).is_empty() && pool.let_go(6).is_empty());
        assert_eq!((pool.usage().in_use, pool.usage().cached), (768, 512));
        assert!(matches!(pool.take("test", 256, 9), Ok(PoolAnswer::Reused(3, 6))));
    }

    /// A buffer of the model: its name, its size, and the last recording that used it.
    type Buffer = (u32, u64, u64);

    /// A simple reference model of the pool.
    struct Model {
        free: Vec<Buffer>,
        out: Vec<Buffer>,
        peak: u64,
    }

    impl Model {
        fn bytes(buffers: &[Buffer]) -> u64 {
            buffers.iter().map(|(_, size, _)| size).sum()
        }

        /// Removes the buffers that the pool evicted.
        fn remove_evicted(&mut self, names: &[u32]) {
            for name in names {
                let at = self.free.iter().position(|(free, ..)| free == name).expect("it was free");
                self.free.remove(at);
            }
        }
    }

    /// Makes random calls to a pool and to the model, and compares both after each call.
    fn compare_with_model(seed: u64) {
        const BUDGET: u64 = 64 << 10;
        const CACHED: u64 = 24 << 10;
        const LARGEST: u64 = 16 << 10;
        let mut state = seed;
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut pool = Pool::<u32>::new(Some(BUDGET), CACHED, LARGEST);
        let mut model = Model { free: Vec::new(), out: Vec::new(), peak: 0 };
        let mut names = 0;
        for step in 0..2000 {
            match random(10) {
                0..=4 => {
                    let (bytes, unused_since) = (1 + random(LARGEST + 500), random(6));
                    let size = size_class(bytes);
                    let room = BUDGET - Model::bytes(&model.out);
                    match pool.take("compare_with_model", bytes, unused_since) {
                        Err(Error::Limit { .. }) => assert!(bytes > LARGEST, "step {step}"),
                        Err(error) => assert!(size > room, "step {step}: {error}"),
                        Ok(PoolAnswer::Reused(name, last_use)) => {
                            let found = (name, size, last_use);
                            assert!(last_use < unused_since && model.free.contains(&found), "step {step}");
                            model.free.retain(|free| *free != found);
                            model.out.push(found);
                        }
                        Ok(PoolAnswer::Create(created, evicted)) => {
                            let usable = |free: &Buffer| free.1 == size && free.2 < unused_since;
                            assert!(created == size && !model.free.iter().any(usable), "step {step}");
                            model.remove_evicted(&evicted);
                            names += 1;
                            model.out.push((names, size, 0));
                        }
                    }
                }
                5..=8 if !model.out.is_empty() => {
                    let at = usize::try_from(random(model.out.len() as u64)).unwrap();
                    let (name, size, _) = model.out.swap_remove(at);
                    if random(8) == 0 {
                        assert!(pool.give(size, None).is_empty(), "step {step}");
                    } else {
                        let last_use = random(6);
                        model.free.push((name, size, last_use));
                        let evicted = pool.give(size, Some((name, last_use)));
                        model.remove_evicted(&evicted);
                    }
                }
                9 => {
                    let bytes = random(CACHED);
                    let evicted = pool.shrink(bytes);
                    model.remove_evicted(&evicted);
                    assert!(Model::bytes(&model.free) <= bytes, "step {step}");
                }
                _ => {}
            }
            let [in_use, cached] = [&model.out, &model.free].map(|buffers| Model::bytes(buffers));
            model.peak = model.peak.max(in_use);
            let available = Some(BUDGET - in_use);
            assert_eq!(pool.usage(), Usage { in_use, cached, peak: model.peak, available }, "step {step}");
            let lists = pool.free.iter().map(|(size, list)| size * list.len() as u64);
            assert_eq!(lists.sum::<u64>(), cached, "step {step}: the count is the sum of what is free");
            assert!(cached <= CACHED && in_use + cached <= BUDGET, "step {step}");
        }
    }

    #[test]
    fn random_calls_agree_with_a_plain_model() {
        (0..50).for_each(compare_with_model);
    }
}
