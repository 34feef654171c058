//! Reports to the callback of `with_progress` between the launches of a long plan.

use crate::Result;
use crate::error::Named;
use crate::gpu::driver::lock::foreign;
use crate::gpu::handle::gpu::Gpu;
use crate::plan::Plan;
use crate::progress::{Steps, is_reported};

/// Predicted seconds of launches after which a long plan is submitted, waited for, and reported.
const SLICE: f64 = 0.05;

/// A plan of several launches that takes long. The host does not run ahead of the device, so that reports show the
/// progress of the device, and nothing more runs after a cancellation.
pub(in crate::gpu) struct LongPlan<'a> {
    gpu: &'a Gpu,
    op: &'static str,
    steps: Steps,
    /// Predicted seconds of the launches since the last report.
    seconds: f64,
}

impl<'a> LongPlan<'a> {
    /// None for other plans, if no callback is set, and where nothing may be submitted: in the closure of `capture` and
    /// `record_into`, and while work is being timed.
    pub(in crate::gpu) fn begin(gpu: &'a Gpu, plan: &Plan) -> Result<Option<Self>> {
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

    /// This number of steps is recorded. `seconds` is the predicted time of the last one.
    pub(in crate::gpu) fn recorded(&mut self, steps: usize, seconds: f64) -> Result<()> {
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
    pub(in crate::gpu) fn end(self) -> Result<()> {
        foreign(|| self.steps.end())
    }
}
