//! Who holds a turn, and how it ends.

use super::handle::{Gpu, Inner};
use super::mark::Why;
use super::progress::{NUMBERS, Ran};
use super::recorder::Last;
use super::recording::Recording;
use super::turn::{Doubtful, Failure, Phase, Turn};
use std::time::Duration;

/// The recording of a turn. Whoever has it ends the turn, whatever happens: a panic of a callback goes through here.
pub(super) struct Holder<'a> {
    gpu: &'a Gpu,
    pub(super) recording: Recording,
    ticket: u64,
    /// The submission, once it is made.
    index: Option<wgpu::SubmissionIndex>,
    /// Whether it is known what became of the recording.
    is_known: bool,
    /// Whether the turn goes on without this holder.
    is_left: bool,
}

impl<'a> Holder<'a> {
    pub(super) fn new(gpu: &'a Gpu, recording: Recording, ticket: u64) -> Self {
        Self { gpu, recording, ticket, index: None, is_known: false, is_left: false }
    }

    /// The recording is with the queue.
    pub(super) fn made(mut self, index: wgpu::SubmissionIndex) {
        // NOTE: nobody else sets it.
        let _ = self.recording.outcome.set(Ok(index.clone()));
        self.index = Some(index);
        self.is_known = true;
    }

    /// Nothing of it is.
    pub(super) fn refused(mut self, failure: &Failure) {
        self.is_known = true;
        if failure.is_one_launchs && !self.recording.is_single() {
            // One by one, what is not at fault runs, and what is gets its name.
            self.split(&failure.why);
            return;
        }
        self.fail(&failure.why);
        let gpu = self.gpu;
        drop(self);
        gpu.look_for_loss();
    }

    /// Leaves the recording with the turn, for any thread that asks the device what became of it. A callback may have ended
    /// the turn, which it does where it finds the submission made.
    pub(super) fn doubt(mut self, index: wgpu::SubmissionIndex, failure: Failure) {
        let mut state = self.gpu.inner.recorder.lock();
        let Some(turn) = state.turn.as_mut().filter(|turn| turn.ticket == self.ticket) else {
            drop(state);
            return self.made(index);
        };
        let empty = Recording::piece_of(&self.recording);
        let recording = std::mem::replace(&mut self.recording, empty);
        turn.phase = Phase::Doubtful(Box::new(Doubtful { recording, index, failure }));
        self.is_left = true;
    }

    fn fail(&self, why: &Why) {
        self.recording.fail_all(why);
        log::error!("{why}");
        // The error of a copy is its reader's.
        if self.recording.len() > 0 {
            self.gpu.inner.recorder.lock().failure.get_or_insert_with(|| why.clone());
        }
    }

    /// Replaces the recording by its pieces.
    fn split(&mut self, why: &Why) {
        let empty = Recording::piece_of(&self.recording);
        let pieces = std::mem::replace(&mut self.recording, empty).split(why);
        let mut state = self.gpu.inner.recorder.lock();
        pieces.into_iter().rev().for_each(|piece| state.closed.push_front(piece));
        if let Some(turn) = state.turn.as_mut().filter(|turn| turn.ticket == self.ticket) {
            turn.goes_on = true;
        }
    }

    /// Marks the recording as failed if the panic came before it was submitted. A panic of a callback comes after that.
    fn panicked(&self) {
        let encoding = |turn: &Turn| turn.ticket == self.ticket && matches!(turn.phase, Phase::Encoding);
        let is_lost = self.gpu.inner.recorder.lock().turn.as_ref().is_some_and(encoding);
        if is_lost {
            self.fail(&"a panic while commands were made".into());
        }
    }
}

impl Drop for Holder<'_> {
    fn drop(&mut self) {
        if self.is_left {
            return;
        }
        if !self.is_known {
            self.panicked();
        }
        let mut state = self.gpu.inner.recorder.lock();
        state.end_turn(self.ticket);
        // A submission that a callback made in the midst of this one is the later one.
        if let Some(index) = self.index.take().filter(|_| self.ticket >= state.last.0) {
            state.last = (self.ticket, Last::At(index));
        }
        drop(state);
        self.gpu.inner.recorder.turn_ended.notify_all();
    }
}

/// What the device was asked of a turn. Whatever happens meanwhile, the answer is heeded: none is one.
struct Question<'a> {
    gpu: &'a Gpu,
    ticket: u64,
    answer: Ran,
    /// Whether no answer is the last word.
    is_final: bool,
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        let Self { gpu, ticket, .. } = *self;
        let mut state = gpu.inner.recorder.lock();
        // Numbers come again. That of a turn so long ago proves nothing.
        let is_recent = ticket.saturating_sub(state.last.0) < u64::from(NUMBERS);
        let answer = if is_recent { self.answer } else { Ran::Unknown };
        if answer == Ran::Unknown && !self.is_final {
            return;
        }
        let Some(turn) = state.turn.as_mut().filter(|turn| turn.ticket == ticket) else { return };
        match &turn.phase {
            Phase::Submitting if answer == Ran::Yes => {
                state.end_turn(ticket);
                drop(state);
                gpu.inner.recorder.turn_ended.notify_all();
            }
            Phase::Doubtful(_) => {
                let phase = std::mem::replace(&mut turn.phase, Phase::Encoding);
                turn.thread = std::thread::current().id();
                drop(state);
                let Phase::Doubtful(doubtful) = phase else { return };
                let Doubtful { recording, index, failure } = *doubtful;
                let holder = Holder::new(gpu, recording, ticket);
                match answer {
                    Ran::Yes => {
                        log::error!("an error in an application's callback: {}", failure.why);
                        holder.made(index);
                    }
                    Ran::No => holder.refused(&failure),
                    // It may have run, and must not run twice.
                    Ran::Unknown => holder.refused(&Failure { is_one_launchs: false, ..failure }),
                }
            }
            _ => {}
        }
    }
}

impl Gpu {
    /// Asks the device whether the submission of this turn has run, and ends the turn with what it says. Without an answer
    /// within the limit the turn stays as it is; without a limit, what may not have run has failed.
    pub(super) fn ask(&self, ticket: u64, limit: Option<Duration>) {
        let mut question = Question { gpu: self, ticket, answer: Ran::Unknown, is_final: limit.is_none() };
        let Inner { device, queue, progress, .. } = &*self.inner;
        question.answer = progress.has_run(device, queue, ticket, limit);
    }
}
