//! Waits for the device, and detects its loss.

use crate::gpu::buffers::outcome::Outcome;
use crate::gpu::driver::driver_times::DriverCall;
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::driver::error_scope::result_and_error;
use crate::gpu::driver::error_scope::{device_error, in_error_scope};
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::driver::lock::foreign;
use crate::gpu::driver::poll::poll;
use crate::gpu::handle::gpu::Gpu;
use crate::gpu::record::recorder::LastSubmission;
use crate::{Error, Result};

impl Gpu {
    /// Updates the status if the device is lost.
    ///
    /// NOTE: objects that are created on a lost device are invalid, and using them fails before the loss is reported.
    /// wgpu reports it only when all work has ended and a thread that polls has run the callback. A submission reports
    /// it at once: a lost device accepts none, not even an empty one.
    pub(in crate::gpu) fn check_for_loss(&self) {
        #[cfg(not(target_arch = "wasm32"))]
        if self.inner.status.check().is_ok() {
            let _suspended = self.inner.recorder.suspend_scope();
            let (device, queue) = (&self.inner.device, &self.inner.queue);
            // An error of the empty submission is not needed: the wait fails too, and stores its error in the status.
            let (index, _) = result_and_error(device, || foreign(|| queue.submit([])));
            let _ = self.wait_for(&index);
        }
    }

    /// The cause of an error: the loss of the device, if it is lost, else the error itself.
    pub(in crate::gpu) fn cause_of(&self, error: wgpu::Error) -> Error {
        self.check_for_loss();
        self.inner.status.check().err().unwrap_or_else(|| device_error(error))
    }

    /// Runs `work`, and returns the cause of the error of the device that it causes, if any.
    pub(in crate::gpu) fn caught<R>(&self, work: impl FnOnce() -> R) -> Result<R> {
        in_error_scope(&self.inner.device, work).map_err(|error| self.cause_of(error))
    }

    /// Waits for a submission. Callbacks run in the calling thread.
    pub(in crate::gpu) fn wait_for(&self, index: &wgpu::SubmissionIndex) -> Result<()> {
        let polled = self.inner.clock.time(DriverCall::Waits, || poll(&self.inner.device, Some(index)));
        polled.inspect_err(|error| self.inner.status.mark_lost_by(error))
    }

    /// Waits for all submissions so far, and reports meanwhile.
    pub(in crate::gpu) fn wait_for_last(&self) -> Result<()> {
        let (_, last) = self.inner.recorder.lock().last_submission.clone();
        match last {
            LastSubmission::Never => Ok(()),
            LastSubmission::At(index) => {
                #[cfg(not(target_arch = "wasm32"))]
                self.wait_reported_for_all("wait")?;
                self.wait_for(&index)
            }
            LastSubmission::Unknown => poll(&self.inner.device, None),
        }
    }

    /// The submission of a recording whose turn has ended; None if only a thread that is still in a callback knows the
    /// index.
    pub(in crate::gpu) fn index_of(&self, outcome: &Outcome) -> Result<Option<wgpu::SubmissionIndex>> {
        match outcome.get() {
            None => Ok(None),
            Some(Ok(index)) => Ok(Some(index.clone())),
            Some(Err(why)) => {
                self.inner.status.check()?;
                Err(Error::device(why.to_string()))
            }
        }
    }
}
