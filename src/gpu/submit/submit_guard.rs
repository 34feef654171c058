//! The guard of a turn: it owns the recording, and ends the turn when it is dropped.

use crate::gpu::buffers::failures::Reason;
use crate::gpu::driver::progress::{HasRun, TICKET_MODULUS};
use crate::gpu::handle::gpu::{Gpu, Inner};
use crate::gpu::record::recorder::LastSubmission;
use crate::gpu::record::recording::Recording;
use crate::gpu::record::submit_turn::{Failure, Phase, SubmitTurn, UnconfirmedSubmission};
use std::time::Duration;

/// The owner of a turn's recording. Its drop ends the turn, even if a callback panics.
pub(in crate::gpu) struct SubmitGuard<'a> {
    gpu: &'a Gpu,
    pub(in crate::gpu) recording: Recording,
    ticket: u64,
    /// The submission, once it has been made.
    index: Option<wgpu::SubmissionIndex>,
    /// Whether the recording's outcome is known.
    has_outcome: bool,
    /// Whether the turn outlives this guard: its recording is in [`Phase::Unconfirmed`], and another thread will end
    /// it.
    is_left_to_others: bool,
}

impl<'a> SubmitGuard<'a> {
    pub(in crate::gpu) fn new(gpu: &'a Gpu, recording: Recording, ticket: u64) -> Self {
        Self { gpu, recording, ticket, index: None, has_outcome: false, is_left_to_others: false }
    }

    /// The recording has been submitted to the queue.
    pub(in crate::gpu) fn submitted(mut self, index: wgpu::SubmissionIndex) {
        // NOTE: only this guard sets the outcome, so it is empty.
        let _ = self.recording.outcome.set(Ok(index.clone()));
        self.index = Some(index);
        self.has_outcome = true;
    }

    /// Nothing of the recording has been submitted.
    pub(in crate::gpu) fn refused(mut self, failure: &Failure) {
        self.has_outcome = true;
        if failure.may_be_one_launch && !self.recording.is_single() {
            // Submit the launches one by one: valid ones run, and the error names the faulty one.
            self.split(&failure.why);
            return;
        }
        self.fail(&failure.why);
        let gpu = self.gpu;
        drop(self);
        gpu.check_for_loss();
    }

    /// Stores the recording in the turn as unconfirmed. Any thread can then query the device for its outcome. If the
    /// turn has ended already, a callback has ended it, which happens only if the submission was made.
    pub(in crate::gpu) fn leave_unconfirmed(mut self, index: wgpu::SubmissionIndex, failure: Failure) {
        let mut state = self.gpu.inner.recorder.lock();
        let Some(turn) = state.turn.as_mut().filter(|turn| turn.ticket == self.ticket) else {
            drop(state);
            return self.submitted(index);
        };
        let empty = Recording::piece_of(&self.recording);
        let recording = std::mem::replace(&mut self.recording, empty);
        turn.phase = Phase::Unconfirmed(Box::new(UnconfirmedSubmission { recording, index, failure }));
        self.is_left_to_others = true;
    }

    fn fail(&self, why: &Reason) {
        self.recording.fail_all(why);
        log::error!("{why}");
        // The error of a recording with only a copy is returned by the read that asked for the copy.
        if self.recording.len() > 0 {
            self.gpu.inner.recorder.lock().failure.get_or_insert_with(|| why.clone());
        }
    }

    /// Replaces the recording by pieces of one launch each.
    fn split(&mut self, why: &Reason) {
        let empty = Recording::piece_of(&self.recording);
        let pieces = std::mem::replace(&mut self.recording, empty).split(why);
        let mut state = self.gpu.inner.recorder.lock();
        pieces.into_iter().rev().for_each(|piece| state.closed.push_front(piece));
        if let Some(turn) = state.turn.as_mut().filter(|turn| turn.ticket == self.ticket) {
            turn.has_more_pieces = true;
        }
    }

    /// Marks the recording as failed if a panic came before the submission. A panic of a callback comes after it.
    fn fail_if_encoding(&self) {
        let encoding =
            |turn: &SubmitTurn| turn.ticket == self.ticket && matches!(turn.phase, Phase::Encoding);
        let is_lost = self.gpu.inner.recorder.lock().turn.as_ref().is_some_and(encoding);
        if is_lost {
            self.fail(&"a panic while commands were encoded".into());
        }
    }
}

impl Drop for SubmitGuard<'_> {
    fn drop(&mut self) {
        if self.is_left_to_others {
            return;
        }
        if !self.has_outcome {
            self.fail_if_encoding();
        }
        let mut state = self.gpu.inner.recorder.lock();
        state.end_turn(self.ticket);
        // If a callback has submitted during this submission, the callback's submission is the later one: keep it.
        if let Some(index) = self.index.take().filter(|_| self.ticket >= state.last_submission.0) {
            state.last_submission = (self.ticket, LastSubmission::At(index));
        }
        drop(state);
        self.gpu.inner.recorder.turn_ended.notify_all();
    }
}

/// A query of a turn's progress. Its drop applies the answer to the turn, even if a callback panics in the meantime;
/// the answer is then `Unknown`.
struct ProgressQuery<'a> {
    gpu: &'a Gpu,
    ticket: u64,
    answer: HasRun,
    /// Whether the turn must end even if the answer is `Unknown`.
    is_final: bool,
}

impl Drop for ProgressQuery<'_> {
    fn drop(&mut self) {
        let Self { gpu, ticket, .. } = *self;
        let mut state = gpu.inner.recorder.lock();
        // Numbers repeat, so an answer about a turn that is too old proves nothing.
        let is_recent = ticket.saturating_sub(state.last_submission.0) < u64::from(TICKET_MODULUS);
        let answer = if is_recent { self.answer } else { HasRun::Unknown };
        if answer == HasRun::Unknown && !self.is_final {
            return;
        }
        let Some(turn) = state.turn.as_mut().filter(|turn| turn.ticket == ticket) else { return };
        match &turn.phase {
            Phase::Submitting if answer == HasRun::Yes => {
                state.end_turn(ticket);
                drop(state);
                gpu.inner.recorder.turn_ended.notify_all();
            }
            Phase::Unconfirmed(_) => {
                let phase = std::mem::replace(&mut turn.phase, Phase::Encoding);
                turn.thread = std::thread::current().id();
                drop(state);
                let Phase::Unconfirmed(unconfirmed) = phase else { return };
                let UnconfirmedSubmission { recording, index, failure } = *unconfirmed;
                let guard = SubmitGuard::new(gpu, recording, ticket);
                match answer {
                    HasRun::Yes => {
                        log::error!("an error in an application's callback: {}", failure.why);
                        guard.submitted(index);
                    }
                    HasRun::No => guard.refused(&failure),
                    // The recording may have run, and it must not run twice: do not submit its launches again.
                    HasRun::Unknown => guard.refused(&Failure { may_be_one_launch: false, ..failure }),
                }
            }
            _ => {}
        }
    }
}

impl Gpu {
    /// Asks the device whether the submission of this turn has run, and ends the turn accordingly. If there is a limit
    /// and no answer comes within it, the turn stays as it is. Without a limit, a recording that may not have run is
    /// marked as failed.
    pub(in crate::gpu) fn query_turn(&self, ticket: u64, limit: Option<Duration>) {
        let mut query =
            ProgressQuery { gpu: self, ticket, answer: HasRun::Unknown, is_final: limit.is_none() };
        let Inner { device, queue, progress, .. } = &*self.inner;
        query.answer = progress.has_run(device, queue, ticket, limit);
    }
}
