//! Recording a launch.

use super::handle::Gpu;
use super::options::Submission;
use super::pipeline::Pipeline;
use super::recording::{BoundWindow, Outcome, Uniform};
use crate::Result;
use crate::plan::Scalar;
use std::sync::Arc;

/// A launch to be recorded.
pub(super) struct Launch<'a> {
    pub(super) pipeline: &'a Arc<Pipeline>,
    /// What is bound, in the order in which the shader declares it.
    pub(super) bound: Vec<BoundWindow>,
    pub(super) dims: &'a [u8],
    /// Where which of the values lie in the dims, by offset.
    pub(super) scalars: &'a [(usize, usize)],
    pub(super) values: &'a [Scalar],
    pub(super) grid: [u32; 3],
    /// Predicted seconds.
    pub(super) seconds: f64,
}

impl Gpu {
    /// Records one launch.
    pub(super) fn record(&self, launch: Launch<'_>) -> Result<()> {
        let Launch { pipeline, bound, dims, scalars, values, grid, seconds } = launch;
        let mut state = self.inner.recorder.lock();
        let sequence = state.next_sequence();
        state.count(&bound);
        let dims = Uniform { dims, scalars, values };
        state.open.push(pipeline, bound, &dims, grid, sequence);
        state.open.seconds += seconds;
        let each = self.inner.options.submission == Submission::EachLaunch && !state.timed;
        if !each && !state.is_full() {
            return Ok(());
        }
        let outcome = state.open.outcome.clone();
        let number = state.close(None);
        drop(state);
        if each {
            self.hand_over(number)?;
            self.wait_for_last()?;
            return self.outcome_of(&outcome);
        }
        // The launch is recorded: what keeps it from the queue now is told by the call that next needs it there.
        let _ = self.hand_over(number);
        Ok(())
    }

    /// The failure of a recording that has been handed over, which no other call then returns.
    fn outcome_of(&self, outcome: &Outcome) -> Result<()> {
        let failed = self.index_of(outcome).map(|_| ());
        if let Some(Err(why)) = outcome.get() {
            let mut state = self.inner.recorder.lock();
            state.failure = state.failure.take().filter(|failure| !Arc::ptr_eq(failure, why));
        }
        failed
    }
}
