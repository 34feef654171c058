//! Queue submission: recordings are submitted one at a time, in the order of their numbers. Each is submitted by the
//! thread that needs it, during that thread's turn (see [`submit_turn`](crate::gpu::record::submit_turn)).

use super::submit_guard::SubmitGuard;
use crate::gpu::driver::driver_times::DriverCall;
use crate::gpu::driver::error_scope::{in_error_scope, result_and_error};
use crate::gpu::driver::lock::foreign;
use crate::gpu::handle::gpu::Gpu;
use crate::gpu::kernels::ring::{MAX_LAUNCHES, Ring};
use crate::gpu::record::recording::Recording;
use crate::gpu::record::submit_turn::{Failure, Phase};
use crate::{Error, Result};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Time that a thread waits for another thread's turn to end before it asks the device whether the turn's submission
/// has run.
const TURN_TIMEOUT: Duration = Duration::from_millis(20);

impl Gpu {
    /// Closes the open recording. Returns when it and all earlier recordings are submitted or have failed.
    pub(in crate::gpu) fn submit_all(&self) -> Result<()> {
        let left = self.inner.spares.bytes_left.swap(0, Ordering::Relaxed);
        let mut state = self.inner.recorder.lock();
        state.uploads.staged += left;
        let number = if state.has_work() { state.close(None) } else { state.open.number - 1 };
        drop(state);
        self.submit_up_to(number)
    }

    /// Returns when every recording up to `number` is submitted or has failed. The outputs of failed launches are
    /// marked as failed.
    ///
    /// # Errors
    /// [`Error::Device`] if the caller is a callback that wgpu runs while the same thread encodes commands.
    pub(in crate::gpu) fn submit_up_to(&self, number: u64) -> Result<()> {
        let _suspended = self.inner.recorder.suspend_scope();
        let this = std::thread::current().id();
        loop {
            let mut state = self.inner.recorder.lock();
            if state.done_up_to >= number {
                return Ok(());
            }
            let Some(turn) = &state.turn else {
                let recording = state.closed.pop_front();
                let recording =
                    recording.ok_or_else(|| Error::device("a recording was lost: please report this"))?;
                let ticket = state.begin_turn(this, &recording);
                drop(state);
                self.take_turn(recording, ticket);
                continue;
            };
            let (ticket, is_own) = (turn.ticket, turn.thread == this);
            match turn.phase {
                Phase::Encoding if is_own => {
                    let why = "a callback cannot submit while its own thread encodes commands";
                    return Err(Error::device(why));
                }
                Phase::Submitting if is_own => {
                    state.end_turn(ticket);
                    self.inner.recorder.turn_ended.notify_all();
                }
                Phase::Unconfirmed(_) if is_own => {
                    drop(state);
                    self.query_turn(ticket, None);
                }
                ref phase => {
                    let may_ask = !matches!(phase, Phase::Encoding);
                    let state = state.wait(&self.inner.recorder.turn_ended, TURN_TIMEOUT);
                    let is_same = state.turn.as_ref().is_some_and(|turn| turn.ticket == ticket);
                    drop(state);
                    if is_same && may_ask {
                        self.query_turn(ticket, Some(TURN_TIMEOUT));
                    }
                }
            }
        }
    }

    /// Submits a recording, or a piece of one. The calling thread has the turn.
    fn take_turn(&self, recording: Recording, ticket: u64) {
        let guard = SubmitGuard::new(self, recording, ticket);
        match self.submit_recording(&guard.recording, ticket) {
            SubmitOutcome::Submitted(index) => guard.submitted(index),
            SubmitOutcome::Refused(failure) => guard.refused(&failure),
            SubmitOutcome::Unconfirmed(index, failure) => {
                guard.leave_unconfirmed(index, failure);
                self.query_turn(ticket, None);
            }
        }
    }

    /// Encodes the commands and submits them.
    fn submit_recording(&self, recording: &Recording, ticket: u64) -> SubmitOutcome {
        let (device, queue) = (&self.inner.device, &self.inner.queue);
        let mut ring = recording.needs_ring().then(|| self.inner.recorder.lock().rings.pop());
        let encoded = in_error_scope(device, || {
            let mut ring = ring.as_mut().map(|ring| {
                let ring = ring.get_or_insert_with(|| Ring::new(device, MAX_LAUNCHES));
                ring.clear();
                ring
            });
            let commands = recording.encode(device, ring.as_deref_mut(), &self.inner.progress, ticket);
            if let Some(ring) = ring {
                ring.write(queue);
            }
            commands
        });
        let commands = match encoded {
            Ok(commands) => commands,
            Err(error) => return SubmitOutcome::Refused(Failure::of(recording, &error)),
        };
        if let Some(turn) = &mut self.inner.recorder.lock().turn {
            turn.phase = Phase::Submitting;
        }
        let submit = || self.inner.clock.time(DriverCall::Submits, || foreign(|| queue.submit([commands])));
        let (index, error) = result_and_error(device, submit);
        let mut state = self.inner.recorder.lock();
        state.counts.submits += 1;
        state.rings.extend(ring.flatten());
        drop(state);
        match error {
            None => SubmitOutcome::Submitted(index),
            Some(error) if is_of_submit(&error) => {
                SubmitOutcome::Unconfirmed(index, Failure::of(recording, &error))
            }
            // NOTE: the error scope has caught an error that a callback of the application raised inside `submit`. wgpu
            // offers no way to pass it on to the handler that it was meant for.
            Some(error) => {
                log::error!("an error in an application's callback: {error}");
                SubmitOutcome::Submitted(index)
            }
        }
    }
}

/// The outcome of a submission attempt.
enum SubmitOutcome {
    /// The recording is in the queue.
    Submitted(wgpu::SubmissionIndex),
    /// Nothing of the recording is in the queue.
    Refused(Failure),
    /// wgpu has refused a submission: this one, or another that a callback made inside it.
    Unconfirmed(wgpu::SubmissionIndex, Failure),
}

/// Whether the error says that wgpu refused a submission.
pub(in crate::gpu) fn is_of_submit(error: &wgpu::Error) -> bool {
    let source = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    [error.to_string(), source].iter().any(|said| said.contains("Queue::submit"))
}
