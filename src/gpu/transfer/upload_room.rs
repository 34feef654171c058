//! Takes room in the ring of uploads, or waits for it.

use super::staging_room::lost;
use crate::Result;
use crate::gpu::driver::completion::Completion;
use crate::gpu::handle::gpu::Gpu;
use crate::gpu::record::staging_ring::{Asked, StagingOwner};
use crate::gpu::record::staging_slot::StagingSlot;
use std::sync::Arc;

impl Gpu {
    /// A slot for this many bytes. If the ring is full, submits what is recorded and waits for the oldest copy. Where
    /// nothing may wait, and if no copy can be waited for, the slot is one beyond the ring.
    pub(in crate::gpu) fn room(&self, op: &'static str, bytes: u64) -> Result<Arc<StagingSlot>> {
        loop {
            if let Some(slot) = self.try_room(op, bytes)? {
                return Ok(slot);
            }
            if !self.may_wait_for_room() {
                return self.room_beyond(op, bytes);
            }
            self.submit_all()?;
            let Some((slot, index)) = self.inner.uploads.oldest() else {
                return self.room_beyond(op, bytes);
            };
            self.wait_for(&index)?;
            self.copied(&slot);
        }
    }

    /// As [`room`](Self::room), but waits without blocking.
    pub(in crate::gpu) async fn room_async(&self, op: &'static str, bytes: u64) -> Result<Arc<StagingSlot>> {
        loop {
            self.inner.status.check()?;
            self.check_outside_capture(op)?;
            let freed = Arc::<Completion>::default();
            self.inner.uploads.ring.signal_when_free(&freed);
            if let Some(slot) = self.try_room(op, bytes)? {
                return Ok(slot);
            }
            if self.inner.recorder.lock().scope().is_some() {
                return self.room_beyond(op, bytes);
            }
            self.submit_all()?;
            let Some((slot, index)) = self.inner.uploads.oldest() else {
                return self.room_beyond(op, bytes);
            };
            // A slot is free when nothing holds it, so the future must not hold it.
            let in_use = Arc::downgrade(&slot);
            drop(slot);
            let is_done = self.done_or_freed(index, &freed).await?;
            if is_done && let Some(slot) = in_use.upgrade() {
                self.copied(&slot);
            }
        }
    }

    /// The device has run the slot's copy. NOTE: another thread may have to run other callbacks before the one that says
    /// that the buffer is mapped. Then the bytes are free nevertheless, and the buffer is dropped.
    fn copied(&self, slot: &StagingSlot) {
        if !slot.is_mapped() {
            slot.give_back();
        }
    }

    fn try_room(&self, op: &'static str, bytes: u64) -> Result<Option<Arc<StagingSlot>>> {
        self.asked_slot(op, self.inner.uploads.ring.ask(op, bytes)?)
    }

    /// A slot besides those of the ring.
    fn room_beyond(&self, op: &'static str, bytes: u64) -> Result<Arc<StagingSlot>> {
        self.asked_slot(op, self.inner.uploads.ring.ask_beyond(op, bytes)?)?.ok_or_else(lost)
    }

    fn asked_slot(&self, op: &'static str, asked: Asked) -> Result<Option<Arc<StagingSlot>>> {
        let usage = wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC;
        let found = self.staging_buffer(op, &self.inner.uploads.ring, asked, usage)?;
        Ok(found.map(|(buffer, place)| self.slot(buffer, place)))
    }

    fn slot(&self, buffer: wgpu::Buffer, place: StagingOwner) -> Arc<StagingSlot> {
        let slot = Arc::new(StagingSlot::new(&self.inner.uploads.ring, buffer, place));
        self.inner.uploads.add(&slot);
        slot
    }

    /// Whether this thread may submit and wait: not in a browser, not in the closure of `record_into`, and not in a
    /// callback that runs while the thread encodes commands.
    fn may_wait_for_room(&self) -> bool {
        #[cfg(target_arch = "wasm32")]
        return false;
        #[cfg(not(target_arch = "wasm32"))]
        {
            self.inner.recorder.lock().may_wait()
        }
    }
}
