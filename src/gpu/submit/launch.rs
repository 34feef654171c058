//! Records launches.

use crate::Result;
use crate::gpu::buffers::outcome::Outcome;
use crate::gpu::driver::lock::Locked;
use crate::gpu::handle::gpu::Gpu;
use crate::gpu::options::gpu_options::Submission;
use crate::gpu::record::new_launch::NewLaunch;
use crate::gpu::record::recorder::RecorderState;
use std::sync::Arc;

impl Gpu {
    /// Records one launch, and submits the recording if it is full. In the closure of a `record_into` or a `capture`, the
    /// launch goes to that scope.
    pub(in crate::gpu) fn record(&self, launch: NewLaunch<'_>) -> Result<()> {
        let uses = launch.bound.iter().map(|bound| (&*bound.storage, bound.taken_access()));
        let mut state = self.lock_ordered(launch.plan.op(), uses)?;
        let sequence = state.next_sequence();
        self.inner.pipelines.note_use(&launch.pipeline, sequence);
        if !state.is_capturing() {
            state.counts.add(&launch.bound);
        }
        if let Some(scope) = state.scope() {
            scope.push(launch, sequence);
            return Ok(());
        }
        state.open.seconds += launch.seconds;
        state.open.push(launch, sequence);
        self.submit_if_full(state)
    }

    /// Submits the open recording if it is full, or if each launch is to be submitted by itself.
    pub(in crate::gpu) fn submit_if_full(&self, mut state: Locked<'_, RecorderState>) -> Result<()> {
        let each = self.inner.options.submission == Submission::EachLaunch && !state.timed;
        if !each && !state.is_full() {
            return Ok(());
        }
        let outcome = state.open.outcome.clone();
        let number = state.close(None);
        drop(state);
        if each {
            self.submit_up_to(number)?;
            self.wait_for_last()?;
            return self.outcome_of(&outcome);
        }
        // The launch is recorded, so this call succeeds. If the submission fails, the next call that needs it returns
        // the error.
        let _ = self.submit_up_to(number);
        Ok(())
    }

    /// The failure of a recording after its submission. Clears it from the recorder, so that no other call returns it
    /// again.
    fn outcome_of(&self, outcome: &Outcome) -> Result<()> {
        let failed = self.index_of(outcome).map(|_| ());
        if let Some(Err(why)) = outcome.get() {
            let mut state = self.inner.recorder.lock();
            state.failure = state.failure.take().filter(|failure| !Arc::ptr_eq(failure, why));
        }
        failed
    }
}
