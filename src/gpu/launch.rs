//! Records launches.

use super::handle::Gpu;
use super::options::Submission;
use super::pipeline::Pipeline;
use super::recording::{BoundWindow, Outcome, Uniform};
use super::taken_check::note_uses;
use crate::Result;
use crate::plan::Scalar;
use std::sync::Arc;

/// A launch to record.
pub(super) struct NewLaunch<'a> {
    /// The operation, for errors.
    pub(super) op: &'static str,
    pub(super) pipeline: &'a Arc<Pipeline>,
    /// Windows of the operands, in the order in which the shader declares them.
    pub(super) bound: Vec<BoundWindow>,
    pub(super) dims: &'a [u8],
    /// Pairs of a byte offset in `dims` and the index in `values` of the scalar to write there.
    pub(super) scalars: &'a [(usize, usize)],
    pub(super) values: &'a [Scalar],
    pub(super) grid: [u32; 3],
    /// Predicted seconds.
    pub(super) seconds: f64,
}

impl Gpu {
    /// Records one launch, and submits the recording if it is full. In the closure of a `record_into`, the launch goes to
    /// that scope.
    pub(super) fn record(&self, launch: NewLaunch<'_>) -> Result<()> {
        let NewLaunch { op, pipeline, bound, dims, scalars, values, grid, seconds } = launch;
        let uses = bound.iter().map(|bound| (&*bound.storage, bound.taken_access()));
        let mut state = self.lock_ordered(op, uses.clone())?;
        let sequence = state.next_sequence();
        state.count(&bound);
        let dims = Uniform { dims, scalars, values };
        if let Some(scope) = state.scope() {
            note_uses(&scope.work, uses);
            scope.recording.push(pipeline, bound, &dims, grid, sequence);
            return Ok(());
        }
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
