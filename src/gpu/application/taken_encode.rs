//! Encodes taken work into an application's encoder.

use crate::gpu::buffers::failures::Reason;
use crate::gpu::buffers::taken_work::{Commands, TakenWork};
use crate::gpu::driver::error_scope::in_validation_scope;
use crate::gpu::handle::gpu::{Gpu, Inner};
use crate::gpu::kernels::ring::{MAX_LAUNCHES, Ring};
use crate::gpu::record::recording::Recording;
use crate::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Work that is being taken. If its drop comes before its commands are complete, the work has failed.
pub(in crate::gpu) struct Taking<'a> {
    pub(in crate::gpu) gpu: &'a Gpu,
    pub(in crate::gpu) work: Arc<TakenWork>,
    pub(in crate::gpu) recording: Recording,
    /// Why the work fails if this is dropped now.
    pub(in crate::gpu) why: Reason,
}

impl Taking<'_> {
    /// Encodes all launches and copies, and attaches the work to the encoder's submission. If that fails, the outputs
    /// are marked as failed.
    ///
    /// # Errors
    /// [`Error::Device`] if the driver refuses something, or the device is lost.
    pub(in crate::gpu) fn encode(mut self, encoder: &mut wgpu::CommandEncoder) -> Result<()> {
        self.why = format!("`{}` could not encode its commands", self.work.call).into();
        match self.try_encode(encoder) {
            Ok(()) => {
                // Nothing can fail any more.
                self.recording = Recording::new(self.recording.number);
                Ok(())
            }
            Err(error) => {
                self.why = format!("`{}` could not encode its commands: {error}", self.work.call).into();
                Err(error)
            }
        }
    }

    fn try_encode(&self, encoder: &mut wgpu::CommandEncoder) -> Result<()> {
        let Self { gpu, work, recording, .. } = self;
        let Inner { device, queue, progress, spares, .. } = &*gpu.inner;
        // Everything that may fail comes before the first command, so that the application's encoder stays valid.
        let mut receipt = spares.receipts.take(device).map_err(|error| gpu.cause_of(error))?;
        let (signal, groups, mut rings) = gpu.caught(|| {
            receipt.begin();
            (spares.receipts.signal(device), recording.bind(device), self.rings())
        })?;
        // NOTE: wgpu panics if the encoder belongs to a device of another instance.
        let encoded = catch_unwind(AssertUnwindSafe(|| {
            in_validation_scope(device, || {
                recording.encode_items(&groups, encoder, &mut rings);
                receipt.encode(encoder, progress);
            })
        }));
        let failed = |_| Error::input(work.call, "the encoder must belong to the device of this `Gpu`");
        encoded.map_err(failed)?.map_err(|error| gpu.cause_of(error))?;
        if !rings.is_empty() {
            gpu.caught(|| rings.iter_mut().for_each(|ring| ring.write(queue)))?;
        }
        // From here on, `Commands` decides the outcome of the work.
        let commands = Commands::of(work);
        receipt.attach(encoder, signal, move || commands.submitted());
        work.hold(rings, Box::new(recording.storages()), recording.writes(), receipt);
        Ok(())
    }

    /// Rings for the launches, if they need any. No other work uses them until this work is submitted, because a queue
    /// write to a ring runs at the next submission, and the work may run later. The caller opens an error scope around
    /// this.
    fn rings(&self) -> Vec<Ring> {
        if !self.recording.needs_ring() {
            return Vec::new();
        }
        let Inner { device, spares, .. } = &*self.gpu.inner;
        let needed = self.recording.len().div_ceil(MAX_LAUNCHES);
        let mut spare = spares.rings.lock();
        let keep = spare.len().saturating_sub(needed);
        let mut rings = spare.split_off(keep);
        drop(spare);
        rings.resize_with(needed, || Ring::new(device, MAX_LAUNCHES));
        rings.iter_mut().for_each(Ring::clear);
        rings
    }
}

impl Drop for Taking<'_> {
    fn drop(&mut self) {
        if self.recording.len() > 0 {
            match self.work.is_in_encoder() {
                true => self.recording.never_ran(&self.why),
                false => self.recording.fail_all(&self.why),
            }
            self.work.fail(&self.why);
        }
    }
}

/// The error of a call that would take work of a time measurement.
pub(in crate::gpu) fn is_timed(call: &'static str) -> Error {
    Error::input(call, "other work is being timed on this device: take work outside of `Gpu::time`")
}
