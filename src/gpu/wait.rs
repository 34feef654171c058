//! Waiting for the device, and finding out that it is lost.

use super::Gpu;
#[cfg(not(target_arch = "wasm32"))]
use super::fault::caught_beside;
use super::fault::told;
use super::lock::foreign;
use super::record::Last;
use crate::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

/// How long a thread sleeps that looks again and again whether the device is done.
const BETWEEN_POLLS: Duration = Duration::from_micros(200);

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

/// Waits for a submission, or for all.
pub(super) fn poll(device: &wgpu::Device, index: Option<&wgpu::SubmissionIndex>) -> Result<()> {
    // NOTE: no wait has a timeout. wgpu 30 panics, and loses callbacks, where one ends in the moment in which another thread
    // finds the submission done.
    let wait = wgpu::PollType::Wait { submission_index: index.cloned(), timeout: None };
    poll_as(device, wait)
}

/// Polls the device again and again until `is_done`, for so long at most. Returns whether it is done.
pub(super) fn poll_until(device: &wgpu::Device, is_done: impl Fn() -> bool, limit: Duration) -> Result<bool> {
    let begun = Instant::now();
    while !is_done() {
        poll_as(device, wgpu::PollType::Poll)?;
        if begun.elapsed() > limit {
            return Ok(is_done());
        }
        std::thread::sleep(BETWEEN_POLLS);
    }
    Ok(true)
}

/// NOTE: wgpu panics where the device is lost while it waits; that is caught here. A panic of a callback, the application's
/// own, goes on.
fn poll_as(device: &wgpu::Device, poll: wgpu::PollType) -> Result<()> {
    match foreign(|| catch_unwind(AssertUnwindSafe(|| device.poll(poll)))) {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(wgpu::PollError::Timeout)) => {
            Err(Error::device("the device was not waited for: please report this"))
        }
        // A device that is lost takes no submission, and says so only here: there is nothing with that index.
        Ok(Err(wgpu::PollError::WrongSubmissionIndex(..))) => {
            Err(Error::device("the device was lost before the submission"))
        }
        Err(panic) => {
            let said = panic.downcast_ref::<String>().map_or("", String::as_str);
            if said.contains("Device::poll") {
                return Err(Error::device("the device was lost while waiting for it"));
            }
            resume_unwind(panic)
        }
    }
}
