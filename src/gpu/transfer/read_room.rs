//! Takes room in the ring of reads, or waits for it.

use super::staging_room::lost;
use crate::Result;
use crate::gpu::handle::gpu::Gpu;
use crate::gpu::record::reads::ReadBuffer;
use crate::gpu::record::staging_ring::Asked;
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
        if !self.inner.recorder.lock().may_wait() {
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
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        self.staging_buffer(op, &self.inner.reads.ring, asked, usage)
    }
}
