//! A slot: one staging buffer, from the time at which the host fills it until the device has copied it.

use super::staging_ring::{StagingOwner, StagingRing};
use crate::gpu::buffers::bound_window::BoundWindow;
use crate::gpu::buffers::element_writer::ElementWriter;
use crate::gpu::buffers::outcome::Outcome;
use crate::gpu::driver::error_scope::in_error_scope;
use crate::gpu::driver::lock::foreign;
use crate::layout::Element;
use crate::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};

/// A staging buffer in use. Its last drop returns its bytes to the ring, and the buffer itself if the host may write to
/// it again.
pub(in crate::gpu) struct StagingSlot {
    ring: Weak<StagingRing>,
    pub(in crate::gpu) buffer: wgpu::Buffer,
    pub(in crate::gpu) place: StagingOwner,
    /// Whether the host may write to the buffer.
    is_mapped: AtomicBool,
    /// Whether an encoder holds the map of the buffer, or its submission has begun the map and it has not ended.
    has_map: AtomicBool,
    /// Whether such a map was given up, because a submission with the copy was refused.
    has_given_up_map: AtomicBool,
    /// Whether its bytes were returned before its last drop.
    pub(in crate::gpu) is_given_back: AtomicBool,
    /// The outcome of the recording that contains the copy; empty if an application submits it.
    outcome: OnceLock<Arc<Outcome>>,
}

impl StagingSlot {
    /// A slot with this mapped buffer.
    pub(in crate::gpu) fn new(ring: &Arc<StagingRing>, buffer: wgpu::Buffer, place: StagingOwner) -> Self {
        Self {
            ring: Arc::downgrade(ring),
            buffer,
            place,
            is_mapped: true.into(),
            has_map: false.into(),
            has_given_up_map: false.into(),
            is_given_back: false.into(),
            outcome: OnceLock::new(),
        }
    }

    /// Fills the first bytes, and zeros up to the end of their last word. From then on the device may copy them.
    pub(in crate::gpu) fn fill<T: Element>(
        &self,
        device: &wgpu::Device,
        bytes: u64,
        fill: impl FnOnce(&mut ElementWriter<'_, T>),
    ) -> Result<()> {
        let padded = bytes.next_multiple_of(4);
        let mut view = self.buffer.get_mapped_range_mut(..padded).map_err(Error::device)?;
        let bytes = usize::try_from(bytes).map_err(Error::device)?;
        let (elements, mut rest) = view.slice(..).split_at(bytes);
        rest.fill(0);
        fill(&mut ElementWriter::new(elements));
        drop(view);
        self.is_mapped.store(false, Ordering::Release);
        in_error_scope(device, || self.buffer.unmap()).map_err(crate::gpu::driver::error_scope::device_error)
    }

    /// The copy is in the recording with this outcome.
    pub(in crate::gpu) fn recorded_in(&self, outcome: &Arc<Outcome>) {
        // NOTE: a slot is recorded once.
        let _ = self.outcome.set(outcome.clone());
    }

    /// The outcome of the recording; None if it is not submitted, or submitted by an application.
    pub(in crate::gpu) fn outcome(&self) -> Option<&Result<wgpu::SubmissionIndex, Arc<str>>> {
        self.outcome.get().and_then(|outcome| outcome.get())
    }

    /// Whether the host may write to the buffer, now and for another write.
    pub(in crate::gpu) fn is_mapped(&self) -> bool {
        self.is_mapped.load(Ordering::Acquire) && !self.has_given_up_map.load(Ordering::Acquire)
    }

    /// The slot's bytes are free again, and its buffer, too, if the host may write to it.
    pub(in crate::gpu) fn give_back(&self) {
        let Some(ring) = self.ring.upgrade() else { return };
        if !self.is_given_back.swap(true, Ordering::AcqRel) {
            let is_reusable = self.place == StagingOwner::InRing && self.is_mapped();
            ring.give(self.buffer.size(), self.place, is_reusable.then(|| self.buffer.clone()));
        }
    }

    /// Encodes the copy, and the map that makes the buffer free again: wgpu begins it inside the submission, whoever
    /// submits, and completes it when the device has run the copy. If wgpu has refused an earlier encoder with the copy, or
    /// its submission, the copy is encoded again.
    pub(in crate::gpu) fn encode(self: &Arc<Self>, to: &BoundWindow, encoder: &mut wgpu::CommandEncoder) {
        let size = to.bytes().next_multiple_of(4);
        if self.has_map.load(Ordering::Acquire) {
            // A refused submission has begun the map, which may complete later, so this buffer is not used for another
            // write.
            self.has_given_up_map.store(true, Ordering::Release);
            foreign(|| self.buffer.unmap());
        } else if self.is_mapped.swap(false, Ordering::AcqRel) {
            // It has also completed.
            foreign(|| self.buffer.unmap());
        }
        encoder.copy_buffer_to_buffer(&self.buffer, 0, &to.storage.buffer, to.window.start, size);
        if !self.has_given_up_map.load(Ordering::Acquire) {
            self.has_map.store(true, Ordering::Release);
            let map = PendingMap(self.clone());
            let mapped = move |mapped: Result<(), wgpu::BufferAsyncError>| {
                map.0.is_mapped.store(mapped.is_ok(), Ordering::Release);
            };
            encoder.map_buffer_on_submit(&self.buffer, wgpu::MapMode::Write, .., mapped);
        }
    }
}

/// The map of a slot's buffer. Its callback drops it when the map has ended; an encoder that wgpu refuses, or that is not
/// submitted, drops it without a map.
struct PendingMap(Arc<StagingSlot>);

impl Drop for PendingMap {
    fn drop(&mut self) {
        self.0.has_map.store(false, Ordering::Release);
    }
}

impl Drop for StagingSlot {
    fn drop(&mut self) {
        self.give_back();
    }
}
