//! A slot: one staging buffer, from the time at which the host fills it until the device has copied it.

use super::bound_window::BoundWindow;
use super::element_writer::ElementWriter;
use super::error_scope::in_error_scope;
use super::lock::foreign;
use super::outcome::Outcome;
use super::staging_ring::Place;
use super::uploads::Uploads;
use crate::layout::Element;
use crate::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};

/// A staging buffer in use. Its last drop gives its bytes back, and the buffer itself if the host may write to it again.
pub(super) struct Slot {
    ring: Weak<Uploads>,
    pub(super) buffer: wgpu::Buffer,
    pub(super) place: Place,
    /// Whether the host may write to the buffer.
    is_mapped: AtomicBool,
    is_encoded: AtomicBool,
    /// Whether its copy was encoded again, after a submission with it was refused.
    is_encoded_again: AtomicBool,
    /// Whether its bytes were given back before its last drop.
    pub(super) is_given_back: AtomicBool,
    /// What became of the recording that the copy is in; empty if an application submits it.
    outcome: OnceLock<Arc<Outcome>>,
}

impl Slot {
    /// A slot with this mapped buffer.
    pub(super) fn new(ring: &Arc<Uploads>, buffer: wgpu::Buffer, place: Place) -> Self {
        Self {
            ring: Arc::downgrade(ring),
            buffer,
            place,
            is_mapped: true.into(),
            is_encoded: false.into(),
            is_encoded_again: false.into(),
            is_given_back: false.into(),
            outcome: OnceLock::new(),
        }
    }

    /// Fills the first bytes, and zeros up to the end of their last word. From then on the device may copy them.
    pub(super) fn fill<T: Element>(
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
        in_error_scope(device, || self.buffer.unmap()).map_err(super::error_scope::device_error)
    }

    /// The copy is in the recording with this outcome.
    pub(super) fn recorded_in(&self, outcome: &Arc<Outcome>) {
        // NOTE: a slot is recorded once.
        let _ = self.outcome.set(outcome.clone());
    }

    /// What became of the recording; None if it is not submitted, or by an application.
    pub(super) fn outcome(&self) -> Option<&Result<wgpu::SubmissionIndex, Arc<str>>> {
        self.outcome.get().and_then(|outcome| outcome.get())
    }

    /// Whether the host may write to the buffer, now and for another write.
    pub(super) fn is_mapped(&self) -> bool {
        self.is_mapped.load(Ordering::Acquire) && !self.is_encoded_again.load(Ordering::Acquire)
    }

    /// Encodes the copy, and the map that makes the buffer free again: wgpu begins it inside the submission, whoever
    /// submits, and completes it when the device has run the copy.
    pub(super) fn encode(self: &Arc<Self>, to: &BoundWindow, encoder: &mut wgpu::CommandEncoder) {
        let size = to.bytes().next_multiple_of(4);
        let again = self.is_encoded.swap(true, Ordering::AcqRel);
        if again {
            // A submission with the copy was refused. Its map is given up, and may complete later: so this buffer serves
            // no other write.
            self.is_encoded_again.store(true, Ordering::Release);
            foreign(|| self.buffer.unmap());
        }
        encoder.copy_buffer_to_buffer(&self.buffer, 0, &to.storage.buffer, to.window.start, size);
        if !again {
            let slot = self.clone();
            let mapped = move |mapped: Result<(), wgpu::BufferAsyncError>| {
                slot.is_mapped.store(mapped.is_ok(), Ordering::Release);
            };
            encoder.map_buffer_on_submit(&self.buffer, wgpu::MapMode::Write, .., mapped);
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(ring) = self.ring.upgrade() {
            ring.give_back(self);
        }
    }
}
