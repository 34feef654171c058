//! Reports to the callback of `with_progress` while a thread waits for the device.

use crate::Result;
use crate::gpu::driver::lock::foreign;
use crate::gpu::driver::poll::poll_until;
use crate::gpu::handle::gpu::Gpu;
use crate::progress::{Steps, is_reported};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Time between two reports of a wait.
const INTERVAL: Duration = Duration::from_millis(50);

impl Gpu {
    /// Waits until `is_done` or the device is lost, and reports meanwhile. Returns at once if no callback is set.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) after a report; [`Error::Device`](crate::Error::Device) if the device is
    /// lost.
    pub(in crate::gpu) fn wait_reported(&self, call: &'static str, is_done: impl Fn() -> bool) -> Result<()> {
        if !is_reported() {
            return Ok(());
        }
        let mut steps = None;
        let is_over = || is_done() || self.inner.status.is_lost();
        loop {
            let polled = poll_until(&self.inner.device, is_over, INTERVAL);
            if polled.inspect_err(|error| self.inner.status.mark_lost_by(error))? {
                break;
            }
            let steps = steps.get_or_insert_with(|| Steps::aside(call, 1));
            foreign(|| steps.at(0, "waiting for the device"))?;
        }
        match steps.filter(Steps::is_outermost) {
            Some(steps) => foreign(|| steps.end()),
            None => Ok(()),
        }
    }

    /// As [`wait_reported`](Self::wait_reported), until the device has run everything that was submitted.
    pub(in crate::gpu) fn wait_reported_for_all(&self, call: &'static str) -> Result<()> {
        if !is_reported() {
            return Ok(());
        }
        let has_run = Arc::new(AtomicBool::new(false));
        let called = SetOnDrop(has_run.clone());
        foreign(|| self.inner.queue.on_submitted_work_done(move || drop(called)));
        self.wait_reported(call, || has_run.load(Ordering::Acquire))
    }
}

/// Sets a flag when it is dropped: wgpu may drop a callback without running it.
struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}
