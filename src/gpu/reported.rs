//! Reports to the callback of `with_progress`: while a thread waits for the device, and between the launches of a long plan.

use super::handle::Gpu;
use super::lock::foreign;
use super::poll::poll_until;
use crate::Result;
use crate::error::Named;
use crate::plan::Plan;
use crate::progress::{Steps, is_reported};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Time between two reports of a wait.
const INTERVAL: Duration = Duration::from_millis(50);

/// Predicted seconds of launches after which a long plan is submitted, waited for, and reported.
const SLICE: f64 = 0.05;

impl Gpu {
    /// Waits until `is_done` or the device is lost, and reports meanwhile. Returns at once if there is nobody to report to.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) after a report; [`Error::Device`](crate::Error::Device) if the device is
    /// lost.
    pub(super) fn wait_reported(&self, call: &'static str, is_done: impl Fn() -> bool) -> Result<()> {
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
    pub(super) fn wait_reported_for_all(&self, call: &'static str) -> Result<()> {
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

/// A plan of several launches that takes long. The host does not run ahead of the device, so that reports are about what
/// the device has done, and nothing more runs after a cancellation.
pub(super) struct LongPlan<'a> {
    gpu: &'a Gpu,
    op: &'static str,
    steps: Steps,
    /// Predicted seconds of the launches since the last report.
    seconds: f64,
}

impl<'a> LongPlan<'a> {
    /// None for other plans, if there is nobody to report to, and where nothing may be submitted: in the closure of
    /// `capture` and `record_into`, and while work is being timed.
    pub(super) fn begin(gpu: &'a Gpu, plan: &Plan) -> Result<Option<Self>> {
        if plan.steps().len() < 2 || plan.seconds() < SLICE || !is_reported() {
            return Ok(None);
        }
        let is_scoped = gpu.check_outside_scope(plan.op(), "submits and waits").is_err();
        if is_scoped || gpu.inner.recorder.lock().is_timed() {
            return Ok(None);
        }
        let steps = Steps::aside(plan.op(), plan.steps().len());
        foreign(|| steps.at(0, "launches"))?;
        Ok(Some(Self { gpu, op: plan.op(), steps, seconds: 0.0 }))
    }

    /// This number of steps is recorded, the last of which is predicted to take so long.
    pub(super) fn recorded(&mut self, steps: usize, seconds: f64) -> Result<()> {
        self.seconds += seconds;
        if self.seconds < SLICE {
            return Ok(());
        }
        self.seconds = 0.0;
        self.gpu.submit_all()?;
        self.gpu.wait_for_last().named(self.op)?;
        foreign(|| self.steps.at(steps, "launches"))
    }

    /// All steps are recorded.
    pub(super) fn end(self) -> Result<()> {
        foreign(|| self.steps.end())
    }
}
