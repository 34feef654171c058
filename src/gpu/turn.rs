//! Turns: recordings are submitted one at a time, in the order of their numbers, by whichever thread needs them submitted.
//!
//! wgpu runs callbacks inside `submit`, the application's too, and they may call us. So no lock is held there. What keeps the
//! order is the turn: a thread takes the recording in front and holds the turn until that is with the queue. Others wait for
//! the turn's end. A callback in the midst of a turn may call us as well:
//!
//! - It runs inside wgpu's `submit`: the submission has been made, so the call ends the turn.
//! - It waits there for another thread, which waits for the turn: that thread asks the device whether the submission has
//!   run, and ends the turn if so.
//! - wgpu says that a submission was refused, which may have been another one, made by a callback inside ours: the device is
//!   asked, by any thread that needs to know, before anything is submitted again.

use super::mark::Why;
use super::recorder::{Last, State};
use super::recording::Recording;
use std::sync::Arc;
use std::thread::ThreadId;

/// Which thread submits, and how far it has come.
pub(super) struct Turn {
    pub(super) thread: ThreadId,
    pub(super) phase: Phase,
    /// The number of this turn.
    pub(super) ticket: u64,
    /// The number of the recording that is submitted; `goes_on`: whether more pieces of it follow.
    pub(super) number: u64,
    pub(super) goes_on: bool,
}

pub(super) enum Phase {
    /// Commands are being encoded: nothing has been submitted yet.
    Encoding,
    /// wgpu's `submit` has been called: callbacks that it runs come after the submission itself.
    Submitting,
    /// wgpu has refused a submission: this one, or another that a callback has made inside it.
    Doubtful(Box<Doubtful>),
}

/// A recording that may be with the queue.
pub(super) struct Doubtful {
    pub(super) recording: Recording,
    /// Its submission, if it is.
    pub(super) index: wgpu::SubmissionIndex,
    /// Why it is not, if it is not.
    pub(super) failure: Failure,
}

/// Why a recording could not be submitted.
pub(super) struct Failure {
    pub(super) why: Why,
    /// Whether one launch may have caused it, so that the launches are to be submitted one by one.
    pub(super) is_one_launchs: bool,
}

impl Failure {
    pub(super) fn of(recording: &Recording, error: &wgpu::Error) -> Self {
        let why = Arc::from(format!("{} failed: {error}", recording.name()));
        Self { why, is_one_launchs: matches!(error, wgpu::Error::Validation { .. }) }
    }
}

impl State {
    /// Begins a turn; returns its ticket.
    pub(super) fn begin_turn(&mut self, thread: ThreadId, recording: &Recording) -> u64 {
        let Recording { number, goes_on, .. } = *recording;
        self.turns += 1;
        let ticket = self.turns;
        self.turn = Some(Turn { thread, phase: Phase::Encoding, ticket, number, goes_on });
        ticket
    }

    /// Whether this thread encodes commands: then a callback that it runs can neither submit nor wait.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn is_encoded_by(&self, thread: ThreadId) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.thread == thread && matches!(turn.phase, Phase::Encoding))
    }

    /// Ends the turn, if it is still this one: the recording is through, unless more pieces of it follow.
    pub(super) fn end_turn(&mut self, ticket: u64) {
        if let Some(turn) = self.turn.take_if(|turn| turn.ticket == ticket) {
            if matches!(turn.phase, Phase::Submitting) && ticket > self.last.0 {
                self.last = (ticket, Last::Unknown);
            }
            if !turn.goes_on {
                self.through = self.through.max(turn.number);
            }
        }
    }
}
