//! Writes through the ring: staged by the host, copied by the device in the recorded order.

use super::write::{SeenBy, writable_bytes};
use crate::error::Named;
use crate::gpu::buffers::bound_window::{BoundWindow, WindowUse};
use crate::gpu::buffers::element_writer::ElementWriter;
use crate::gpu::buffers::part::Part;
use crate::gpu::buffers::storage::{Storage, StorageAccess, note_uses};
use crate::gpu::handle::gpu::{Allocation, Gpu};
use crate::gpu::record::scope::{OwnScope, Sink};
use crate::gpu::record::staging_slot::StagingSlot;
use crate::gpu::record::work::Copy;
use crate::layout::{Element, Layout};
use crate::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

impl Gpu {
    /// Replaces the elements of this layout, row-major, by the elements that `fill` writes into staging memory. The copy
    /// is recorded, after everything that was recorded before.
    pub(crate) fn write_staged<T: Element>(
        &self,
        op: &'static str,
        storage: &Arc<Storage>,
        place: (&Layout, SeenBy),
        fill: impl FnOnce(&mut ElementWriter<'_, T>),
    ) -> Result<()> {
        self.inner.status.check()?;
        self.check_outside_capture(op)?;
        self.check_no_word(op, storage)?;
        let bytes = writable_bytes::<T>(op, storage, place)?;
        if bytes.is_empty() {
            fill(&mut ElementWriter::new((&mut [][..]).into()));
            return Ok(());
        }
        self.check_taken(op, (storage, StorageAccess::Writes), OwnScope::IsOrdered)?;
        let slot = self.room(op, bytes.end - bytes.start)?;
        slot.fill(&self.inner.device, bytes.end - bytes.start, fill).map_err(|error| self.loss_or(error))?;
        self.record_copy(op, slot, storage, bytes)
    }

    /// Allocates a buffer and uploads `elements` to it through the ring, in pieces if they are larger than the ring.
    pub(crate) async fn upload_staged<T: Element>(
        &self,
        op: &'static str,
        elements: &[T],
    ) -> Result<Allocation> {
        self.inner.status.check()?;
        self.check_outside_capture(op)?;
        let size = size_of::<T>() as u64;
        let allocation = self.allocate(op, elements.len() as u64 * size)?;
        let piece = usize::try_from(self.inner.uploads.piece() / size).map_err(Error::device)?;
        for (at, part) in elements.chunks(piece).enumerate() {
            let start = (at * piece) as u64 * size;
            let bytes = start..start + size_of_val(part) as u64;
            let slot = self.room_async(op, bytes.end - bytes.start).await?;
            let filled = slot.fill(&self.inner.device, bytes.end - bytes.start, |to| to.write(0, part));
            filled.map_err(|error| self.loss_or(error)).named(op)?;
            self.record_copy(op, slot, allocation.storage(), bytes)?;
        }
        Ok(allocation)
    }

    fn record_copy(
        &self,
        op: &'static str,
        slot: Arc<StagingSlot>,
        storage: &Arc<Storage>,
        bytes: Range<u64>,
    ) -> Result<()> {
        let used = (&**storage, StorageAccess::Writes);
        let mut state = self.lock_ordered(op, std::iter::once(used))?;
        let sequence = state.next_sequence();
        let access = WindowUse::Overwrite { begun: sequence };
        let bound = [BoundWindow::of(storage.clone(), bytes.clone(), access, Part::Bytes(bytes))];
        // It reads no memory of the device.
        let at = (sequence, 0);
        if let Some(scope) = state.scope() {
            let Sink::Recording(recording) = &mut scope.sink else {
                return Err(Error::input(op, "the closure of `capture` cannot upload"));
            };
            note_uses(&scope.work, std::iter::once(used));
            recording.push_copy(Copy::FromHost(slot), bound, at);
            return Ok(());
        }
        slot.recorded_in(&state.open.outcome);
        state.open.push_copy(Copy::FromHost(slot), bound, at);
        self.submit_if_full(state)
    }

    /// The loss of the device, if it is lost, else this error.
    fn loss_or(&self, error: Error) -> Error {
        self.check_for_loss();
        self.inner.status.check().err().unwrap_or(error)
    }
}
