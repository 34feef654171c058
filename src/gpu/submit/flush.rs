//! Flushes and waits, for an application.

use crate::gpu::handle::gpu::Gpu;
use crate::{Error, Result};

impl Gpu {
    /// Submits all recorded launches and uploads. Work that the application submits afterwards sees their results.
    ///
    /// # Errors
    /// [`Error::Device`] if the device is lost, or if a launch has failed since `flush`, [`wait`](Self::wait) or
    /// [`time`](Self::time) last returned such an error. Reading a tensor that a failed launch should have written is
    /// an error in any case.
    pub fn flush(&self) -> Result<()> {
        self.inner.status.check()?;
        self.check_outside_scope("flush", "submits")?;
        self.submit_all()?;
        self.take_failure()
    }

    /// Returns the first failure of a launch since the last call of this function, as an error.
    pub(in crate::gpu) fn take_failure(&self) -> Result<()> {
        let failure = self.inner.recorder.lock().failure.take();
        self.inner.status.check()?;
        failure.map_or(Ok(()), |why| Err(Error::device(why.to_string())))
    }

    /// Submits all recorded launches and uploads, and waits until the device has run them. If there are none, checks
    /// whether the device is lost: if this returns without an error, it was not lost at that moment.
    ///
    /// # Errors
    /// As [`flush`](Self::flush); [`Error::Cancelled`] in [`with_progress`](crate::with_progress).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn wait(&self) -> Result<()> {
        self.check_outside_scope("wait", "submits and waits")?;
        let last_ticket = || self.inner.recorder.lock().last_submission.0;
        let before = last_ticket();
        self.flush()?;
        self.wait_for_last()?;
        if last_ticket() == before {
            self.check_for_loss();
        }
        self.inner.status.check()
    }
}
