//! The ring of reads, and room in it.

use super::ring::{Asked, Place, StagingRing};
use crate::gpu::completion::Completion;
use crate::gpu::handle::Gpu;
use crate::gpu::lock::Lock;
use crate::{Error, Result};
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

/// The ring of reads. Its free buffers are not mapped, so that the device may copy to them.
pub(in crate::gpu) struct Reads {
    pub(in crate::gpu) ring: StagingRing,
    /// Reads in the order of their submission. Some may be gone.
    under_way: Lock<VecDeque<(Weak<Completion>, wgpu::SubmissionIndex)>>,
}

/// A staging buffer for one read, and where it belongs.
pub(in crate::gpu) type ReadBuffer = (wgpu::Buffer, Place);

impl Reads {
    pub(in crate::gpu) fn new(limit: Option<u64>, largest: u64) -> Self {
        Self { ring: StagingRing::new(limit, largest), under_way: Lock::default() }
    }

    /// A read is submitted.
    pub(in crate::gpu) fn add(&self, completion: &Arc<Completion>, index: &wgpu::SubmissionIndex) {
        let mut under_way = self.under_way.lock();
        if under_way.len() == under_way.capacity() {
            under_way.retain(|(completion, _)| completion.strong_count() > 0);
        }
        under_way.push_back((Arc::downgrade(completion), index.clone()));
    }

    /// Takes the submission of the oldest read that the device may not have completed out of the list. It is waited for
    /// once: if its bytes are not given back then, its owner keeps them.
    fn take_oldest(&self) -> Option<wgpu::SubmissionIndex> {
        loop {
            // NOTE: the last drop of a completion drops a waker, which is foreign code, so none is dropped under the lock.
            let oldest = self.under_way.lock().pop_front();
            let (completion, index) = oldest?;
            let is_pending = |completion: &Completion| !completion.called_back.load(Ordering::Acquire);
            if completion.upgrade().is_some_and(|completion| is_pending(&completion)) {
                return Some(index);
            }
        }
    }
}

impl Gpu {
    /// A staging buffer for a read of this many bytes, beyond the ring if that is full.
    pub(in crate::gpu) fn read_buffer(&self, op: &'static str, bytes: u64) -> Result<ReadBuffer> {
        match self.try_read_buffer(op, bytes)? {
            Some(buffer) => Ok(buffer),
            None => self.asked(op, self.inner.reads.ring.ask_beyond(op, bytes)?)?.ok_or_else(lost),
        }
    }

    /// As [`read_buffer`](Self::read_buffer), but if the ring is full, waits until the device has completed the reads that
    /// are under way, the oldest first.
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::gpu) fn read_buffer_blocking(&self, op: &'static str, bytes: u64) -> Result<ReadBuffer> {
        let mut state = self.inner.recorder.lock();
        let may_wait = !state.is_encoded_by(std::thread::current().id()) && state.scope().is_none();
        drop(state);
        while may_wait {
            if let Some(buffer) = self.try_read_buffer(op, bytes)? {
                return Ok(buffer);
            }
            let Some(index) = self.inner.reads.take_oldest() else { break };
            self.wait_for(&index)?;
        }
        self.read_buffer(op, bytes)
    }

    /// As [`read_buffer`](Self::read_buffer), but if the ring is full, waits without blocking until the device has completed
    /// the reads that are under way, the oldest first.
    pub(in crate::gpu) async fn read_buffer_async(&self, op: &'static str, bytes: u64) -> Result<ReadBuffer> {
        loop {
            let freed = Arc::default();
            self.inner.reads.ring.signal_when_free(&freed);
            if let Some(buffer) = self.try_read_buffer(op, bytes)? {
                return Ok(buffer);
            }
            let Some(index) = self.inner.reads.take_oldest() else { return self.read_buffer(op, bytes) };
            self.done_or_freed(index, &freed).await?;
            self.inner.status.check()?;
        }
    }

    fn try_read_buffer(&self, op: &'static str, bytes: u64) -> Result<Option<ReadBuffer>> {
        self.asked(op, self.inner.reads.ring.ask(op, bytes)?)
    }

    fn asked(&self, op: &'static str, asked: Asked) -> Result<Option<ReadBuffer>> {
        let (size, place) = match asked {
            Asked::Full => return Ok(None),
            Asked::Free(buffer) => return Ok(Some((buffer, Place::InRing))),
            Asked::Create(size, place, evicted) => {
                drop(evicted);
                (size, place)
            }
        };
        let desc = wgpu::BufferDescriptor {
            label: Some("tilewise read"),
            size,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        };
        let created = self.create(op, &desc);
        let created = created.inspect_err(|_| self.inner.reads.ring.give(size, place, None))?;
        Ok(Some((created, place)))
    }
}

fn lost() -> Error {
    Error::device("a staging buffer was lost: please report this")
}
