//! The ring of staging buffers for uploads: free ones, which the host may fill, and those that a copy uses.

use super::slot::{Place, Slot};
use crate::gpu::completion::Completion;
use crate::gpu::lock::Lock;
use crate::gpu::pool::{Pool, Taken};
use crate::{Error, Result};
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

/// Bytes of a ring unless [`GpuOptions::staging_bytes`](crate::GpuOptions::staging_bytes) says otherwise.
pub(in crate::gpu) const DEFAULT_BYTES: u64 = 64 << 20;
/// The smallest ring: one buffer.
const LEAST_BYTES: u64 = 256;

/// The ring. Its buffers have at most `limit` bytes together.
pub(in crate::gpu) struct Uploads {
    limit: u64,
    state: Lock<State>,
}

struct State {
    pool: Pool<wgpu::Buffer>,
    /// Bytes of buffers that do not belong to the ring, each for one write.
    beyond: u64,
    /// Slots in use, in the order in which they were taken. Some may be gone.
    in_use: VecDeque<Weak<Slot>>,
    /// Futures that wait for a slot.
    waiting: Vec<Weak<Completion>>,
}

/// Bytes of the ring's buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gpu) struct RingUsage {
    pub(in crate::gpu) in_use: u64,
    pub(in crate::gpu) free: u64,
}

/// The answer to a request for a slot.
pub(super) enum Asked {
    /// A free buffer, which is mapped.
    Free(wgpu::Buffer),
    /// Instructions to drop these buffers, then create one of this many bytes.
    Create(u64, Place, Vec<wgpu::Buffer>),
    /// There is no room now.
    Full,
}

impl Uploads {
    pub(in crate::gpu) fn new(limit: Option<u64>, largest: u64) -> Self {
        let limit = limit.unwrap_or(DEFAULT_BYTES).max(LEAST_BYTES);
        let pool = Pool::new(Some(limit), limit, largest);
        let state = State { pool, beyond: 0, in_use: VecDeque::new(), waiting: Vec::new() };
        Self { limit, state: Lock::new(state) }
    }

    /// The largest piece of an upload in pieces, in bytes: a multiple of 4. Two of them fit, so that the host fills one
    /// while the device copies the other.
    pub(super) fn piece(&self) -> u64 {
        self.limit / 2 / 4 * 4
    }

    /// Asks for a buffer of the ring. A write that is larger than the ring gets a buffer of its own when nothing else is
    /// in use.
    pub(super) fn ask(&self, op: &'static str, bytes: u64) -> Result<Asked> {
        let mut state = self.state.lock();
        if state.pool.class(bytes) > self.limit {
            let is_empty = state.beyond == 0 && state.pool.usage().in_use == 0;
            drop(state);
            return if is_empty { self.ask_beyond(op, bytes) } else { Ok(Asked::Full) };
        }
        match state.pool.take(op, bytes, u64::MAX) {
            Ok(Taken::Reused(buffer, _)) => Ok(Asked::Free(buffer)),
            Ok(Taken::Create(size, evicted)) => Ok(Asked::Create(size, Place::InRing, evicted)),
            Err(Error::OutOfMemory { .. }) => Ok(Asked::Full),
            Err(error) => Err(error),
        }
    }

    /// Asks for a buffer beyond the ring, for one write.
    pub(super) fn ask_beyond(&self, op: &'static str, bytes: u64) -> Result<Asked> {
        let mut state = self.state.lock();
        let size = state.pool.class(bytes);
        if size < bytes {
            let what = "the size of one buffer in bytes".into();
            return Err(Error::Limit { op, what, needed: bytes, allowed: size });
        }
        state.beyond += size;
        Ok(Asked::Create(size, Place::Beyond, Vec::new()))
    }

    /// Counts a slot as in use.
    pub(super) fn add(&self, slot: &Arc<Slot>) {
        let mut state = self.state.lock();
        if state.in_use.len() == state.in_use.capacity() {
            state.in_use.retain(|slot| slot.strong_count() > 0);
        }
        state.in_use.push_back(Arc::downgrade(slot));
    }

    /// A buffer could not be created.
    pub(super) fn not_created(&self, size: u64, place: Place) {
        self.give(size, place, None);
    }

    /// The oldest slot whose copy is submitted, with its submission. Gives the bytes of those back that no submission
    /// will copy.
    pub(super) fn oldest(&self) -> Option<(Arc<Slot>, wgpu::SubmissionIndex)> {
        let state = self.state.lock();
        let slots: Vec<Arc<Slot>> = state.in_use.iter().filter_map(Weak::upgrade).collect();
        drop(state);
        for slot in slots {
            match slot.outcome() {
                _ if slot.is_given_back.load(Ordering::Acquire) => {}
                None => {}
                Some(Ok(index)) => {
                    let index = index.clone();
                    return Some((slot, index));
                }
                Some(Err(_)) => self.give_back(&slot),
            }
        }
        None
    }

    /// The slot's bytes are free again, and its buffer, too, if the host may write to it.
    pub(super) fn give_back(&self, slot: &Slot) {
        if !slot.is_given_back.swap(true, Ordering::AcqRel) {
            let is_reusable = slot.place == Place::InRing && slot.is_mapped();
            self.give(slot.buffer.size(), slot.place, is_reusable.then(|| slot.buffer.clone()));
        }
    }

    fn give(&self, size: u64, place: Place, buffer: Option<wgpu::Buffer>) {
        let mut state = self.state.lock();
        let evicted = match place {
            Place::InRing => state.pool.give(size, buffer.map(|buffer| (buffer, 0))),
            Place::Beyond => {
                state.beyond -= size;
                Vec::new()
            }
        };
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        drop(evicted);
        waiting.iter().filter_map(Weak::upgrade).for_each(|completion| completion.signal());
    }

    /// Signals this future when a slot becomes free.
    pub(super) fn signal_when_free(&self, completion: &Arc<Completion>) {
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
