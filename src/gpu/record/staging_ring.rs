//! A ring of staging buffers: the free ones, those in use, and a bound on their bytes.

use crate::gpu::buffers::pool::{ONE_BUFFER, Pool, PoolAnswer};
use crate::gpu::driver::completion::Completion;
use crate::gpu::driver::lock::Lock;
use crate::{Error, Result};
use std::sync::{Arc, Weak};

/// Bytes of a ring unless [`GpuOptions::staging_bytes`](crate::GpuOptions::staging_bytes) says otherwise.
const DEFAULT_BYTES: u64 = 64 << 20;
/// The smallest ring: one buffer.
const LEAST_BYTES: u64 = 256;

/// A ring. Its buffers have at most `limit` bytes together.
pub(in crate::gpu) struct StagingRing {
    pub(in crate::gpu) limit: u64,
    state: Lock<RingState>,
}

struct RingState {
    pool: Pool<wgpu::Buffer>,
    /// Bytes of buffers that do not belong to the ring, each for one write or read.
    beyond: u64,
    /// Futures that wait for a buffer.
    waiting: Vec<Weak<Completion>>,
}

/// The owner of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gpu) enum StagingOwner {
    /// The ring, for later use.
    InRing,
    /// One write or read.
    Beyond,
}

/// Bytes of the ring's buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gpu) struct RingUsage {
    pub(in crate::gpu) in_use: u64,
    pub(in crate::gpu) free: u64,
}

/// The answer to a request for a buffer.
pub(in crate::gpu) enum Asked {
    Free(wgpu::Buffer),
    /// Instructions to drop these buffers, then create one of this many bytes.
    Create(u64, StagingOwner, Vec<wgpu::Buffer>),
    /// There is no room now.
    Full,
}

impl StagingRing {
    pub(in crate::gpu) fn new(limit: Option<u64>, largest: u64) -> Self {
        let limit = limit.unwrap_or(DEFAULT_BYTES).max(LEAST_BYTES);
        let pool = Pool::new(Some(limit), limit, largest);
        Self { limit, state: Lock::new(RingState { pool, beyond: 0, waiting: Vec::new() }) }
    }

    /// Requests a buffer of the ring. A request that is larger than the ring gets a buffer outside it when nothing else
    /// is in use.
    pub(in crate::gpu) fn ask(&self, op: &'static str, bytes: u64) -> Result<Asked> {
        let mut state = self.state.lock();
        if state.pool.class(bytes) > self.limit {
            let is_empty = state.beyond == 0 && state.pool.usage().in_use == 0;
            drop(state);
            return if is_empty { self.ask_beyond(op, bytes) } else { Ok(Asked::Full) };
        }
        match state.pool.take(op, bytes, u64::MAX) {
            Ok(PoolAnswer::Reused(buffer, _)) => Ok(Asked::Free(buffer)),
            Ok(PoolAnswer::Create(size, evicted)) => Ok(Asked::Create(size, StagingOwner::InRing, evicted)),
            Err(Error::OutOfMemory { .. }) => Ok(Asked::Full),
            Err(error) => Err(error),
        }
    }

    /// Requests a buffer outside the ring, for one write or read.
    pub(in crate::gpu) fn ask_beyond(&self, op: &'static str, bytes: u64) -> Result<Asked> {
        let mut state = self.state.lock();
        let size = state.pool.class(bytes);
        Error::check_limit(op, ONE_BUFFER, bytes, size)?;
        state.beyond += size;
        Ok(Asked::Create(size, StagingOwner::Beyond, Vec::new()))
    }

    /// The bytes of a buffer are free again, and the buffer, if it can be used again.
    pub(in crate::gpu) fn give(&self, size: u64, place: StagingOwner, buffer: Option<wgpu::Buffer>) {
        let mut state = self.state.lock();
        let evicted = match place {
            StagingOwner::InRing => state.pool.give(size, buffer.map(|buffer| (buffer, 0))),
            StagingOwner::Beyond => {
                state.beyond -= size;
                Vec::new()
            }
        };
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        drop(evicted);
        waiting.iter().filter_map(Weak::upgrade).for_each(|completion| completion.signal());
    }

    /// Signals this future when a buffer becomes free.
    pub(in crate::gpu) fn signal_when_free(&self, completion: &Arc<Completion>) {
        let mut state = self.state.lock();
        if state.waiting.len() == state.waiting.capacity() {
            state.waiting.retain(|completion| completion.strong_count() > 0);
        }
        state.waiting.push(Arc::downgrade(completion));
    }

    /// Takes the free buffers out of the ring, to be dropped.
    pub(in crate::gpu) fn shrink(&self) -> Vec<wgpu::Buffer> {
        self.state.lock().pool.shrink(0)
    }

    pub(in crate::gpu) fn usage(&self) -> RingUsage {
        let state = self.state.lock();
        let usage = state.pool.usage();
        RingUsage { in_use: usage.in_use + state.beyond, free: usage.cached }
    }
}
