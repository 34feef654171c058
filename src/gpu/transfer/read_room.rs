//! Takes room in the ring of reads, or waits for it.

use crate::gpu::handle::gpu::Gpu;
use crate::gpu::record::reads::ReadBuffer;
use crate::gpu::record::staging_ring::{Asked, StagingOwner};
use crate::{Error, Result};
use std::sync::Arc;

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
        if !may_wait {
            return self.read_buffer(op, bytes);
        }
        loop {
            if let Some(buffer) = self.try_read_buffer(op, bytes)? {
                return Ok(buffer);
            }
            let Some(index) = self.inner.reads.take_oldest() else { return self.read_buffer(op, bytes) };
            self.wait_for(&index)?;
        }
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
            Asked::Free(buffer) => return Ok(Some((buffer, StagingOwner::InRing))),
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
