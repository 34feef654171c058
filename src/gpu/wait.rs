//! Waiting for the device, and finding out that it is lost.

#[cfg(not(target_arch = "wasm32"))]
use super::fault::caught_beside;
use super::fault::told;
use super::handle::Gpu;
#[cfg(not(target_arch = "wasm32"))]
use super::lock::foreign;
use super::poll::poll;
use super::recorder::Last;
use crate::{Error, Result};

impl Gpu {
    /// Submits all recorded launches and uploads, and waits until the device has run them.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn wait(&self) -> Result<()> {
        self.flush()?;
        self.wait_for_last()?;
        self.inner.fault.check()
    }

    /// Tells the fault if the device is lost. NOTE: what is created on a lost device is invalid, and using it fails before
    /// the loss is told, which is when all work has ended and some thread that polls has called back. What tells at once is
    /// a submission: a lost device takes none, not even an empty one.
    pub(super) fn look_for_loss(&self) {
        #[cfg(not(target_arch = "wasm32"))]
        if self.inner.fault.check().is_ok() {
            let (device, queue) = (&self.inner.device, &self.inner.queue);
            // What is wrong with a submission of nothing is told by the wait, whose error is kept as the fault.
            let (index, _) = caught_beside(device, || foreign(|| queue.submit([])));
            let _ = self.wait_for(&index);
        }
    }

    /// The cause of an error: the loss, if the device is lost, else the error itself.
    pub(super) fn cause_of(&self, error: wgpu::Error) -> Error {
        self.look_for_loss();
        self.inner.fault.check().err().unwrap_or_else(|| told(error))
    }

    /// Waits for a submission, running its callbacks in this thread.
    pub(super) fn wait_for(&self, index: &wgpu::SubmissionIndex) -> Result<()> {
        let polled = poll(&self.inner.device, Some(index));
        polled.inspect_err(|error| self.inner.fault.mark_lost(error.to_string()))
    }

    /// Waits for everything that has been submitted.
    pub(super) fn wait_for_last(&self) -> Result<()> {
        let (_, last) = self.inner.recorder.lock().last.clone();
        match last {
            Last::Never => Ok(()),
            Last::At(index) => self.wait_for(&index),
            Last::Unknown => poll(&self.inner.device, None),
        }
    }
}
