//! Waiting for the device, and finding out that it is lost.

use super::error_scope::device_error;
#[cfg(not(target_arch = "wasm32"))]
use super::error_scope::result_and_error;
use super::handle::Gpu;
#[cfg(not(target_arch = "wasm32"))]
use super::lock::foreign;
use super::poll::poll;
use super::recorder::LastSubmission;
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
        self.inner.status.check()
    }

    /// Tells the status if the device is lost. NOTE: what is created on a lost device is invalid, and using it fails before
    /// the loss is device_error, which is when all work has ended and some thread that polls has called back. What tells at once is
    /// a submission: a lost device takes none, not even an empty one.
    pub(super) fn check_for_loss(&self) {
        #[cfg(not(target_arch = "wasm32"))]
        if self.inner.status.check().is_ok() {
            let (device, queue) = (&self.inner.device, &self.inner.queue);
            // What is wrong with a submission of nothing is device_error by the wait, whose error is kept as the status.
            let (index, _) = result_and_error(device, || foreign(|| queue.submit([])));
            let _ = self.wait_for(&index);
        }
    }

    /// The cause of an error: the loss, if the device is lost, else the error itself.
    pub(super) fn cause_of(&self, error: wgpu::Error) -> Error {
        self.check_for_loss();
        self.inner.status.check().err().unwrap_or_else(|| device_error(error))
    }

    /// Waits for a submission, running its callbacks in this thread.
    pub(super) fn wait_for(&self, index: &wgpu::SubmissionIndex) -> Result<()> {
        let polled = poll(&self.inner.device, Some(index));
        polled.inspect_err(|error| self.inner.status.mark_lost(error.to_string()))
    }

    /// Waits for everything that has been submitted.
    pub(super) fn wait_for_last(&self) -> Result<()> {
        let (_, last) = self.inner.recorder.lock().last_submission.clone();
        match last {
            LastSubmission::Never => Ok(()),
            LastSubmission::At(index) => self.wait_for(&index),
            LastSubmission::Unknown => poll(&self.inner.device, None),
        }
    }
}
