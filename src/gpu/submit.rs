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

use super::Gpu;
use super::fault::{caught, caught_beside, told};
use super::lock::foreign;
use super::mark::Why;
use super::progress::{NUMBERS, Ran};
use super::record::{LAUNCHES_AT_MOST, Last, State};
use super::recording::Recording;
use super::ring::Ring;
use crate::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread::ThreadId;
use std::time::Duration;

/// Which thread submits, and how far it has come.
pub(super) struct Turn {
    thread: ThreadId,
    phase: Phase,
    /// The number of this turn.
    ticket: u64,
    /// The number of the recording that is submitted; `goes_on`: whether more pieces of it follow.
    number: u64,
    goes_on: bool,
}

enum Phase {
    /// Commands are being encoded: nothing has been submitted yet.
    Encoding,
    /// wgpu's `submit` has been called: callbacks that it runs come after the submission itself.
    Submitting,
    /// wgpu has refused a submission: this one, or another that a callback has made inside it.
    Doubtful(Box<Doubtful>),
}

/// A recording that may be with the queue.
struct Doubtful {
    recording: Recording,
    /// Its submission, if it is.
    index: wgpu::SubmissionIndex,
    /// Why it is not, if it is not.
    failure: Failure,
}

/// How long a thread waits for a turn to end before it asks the device whether the turn's submission has run.
const PATIENCE: Duration = Duration::from_millis(20);

impl Gpu {
    /// Submits all recorded launches and uploads. Work that the application submits afterwards sees their results.
    ///
    /// # Errors
    /// [`Error::Device`] if the device is lost, or if a launch has failed since the last such error of `flush`,
    /// [`wait`](Self::wait) or [`time`](Self::time). To read what a failed launch should have written is an error in any case.
    pub fn flush(&self) -> Result<()> {
        self.inner.fault.check()?;
        self.submit_all()?;
        self.take_failure()
    }

    /// Submits all recorded launches and uploads, and waits until the device has run them.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn wait(&self) -> Result<()> {
        self.flush()?;
        self.wait_for_last()?;
        self.inner.fault.check()
    }

    /// Closes the open recording; returns once it and all before it are submitted or have failed.
    pub(super) fn submit_all(&self) -> Result<()> {
        let mut state = self.inner.recorder.lock();
        let number = if state.has_work() { state.close(None) } else { state.open.number - 1 };
        drop(state);
        self.hand_over(number)
    }

    /// The first failure of a launch since this was called last, as an error.
    pub(super) fn take_failure(&self) -> Result<()> {
        let failure = self.inner.recorder.lock().failure.take();
        self.inner.fault.check()?;
        failure.map_or(Ok(()), |why| Err(Error::device(why.to_string())))
    }

    /// Returns when every recording up to `number` is submitted or has failed. What failed launches should have written is
    /// marked as failed.
    ///
    /// # Errors
    /// [`Error::Device`] if called by a callback that runs while its own thread encodes commands.
    pub(super) fn hand_over(&self, number: u64) -> Result<()> {
        let this = std::thread::current().id();
        loop {
            let mut state = self.inner.recorder.lock();
            if state.through >= number {
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
                    let why = "a callback was called while commands were made, and cannot submit there";
                    return Err(Error::device(why));
                }
                Phase::Submitting if is_own => {
                    state.end_turn(ticket);
                    self.inner.recorder.turn_ended.notify_all();
                }
                Phase::Doubtful(_) if is_own => {
                    drop(state);
                    self.ask(ticket, None);
                }
                ref phase => {
                    let may_ask = !matches!(phase, Phase::Encoding);
                    let state = state.wait(&self.inner.recorder.turn_ended, PATIENCE);
                    let is_same = state.turn.as_ref().is_some_and(|turn| turn.ticket == ticket);
                    drop(state);
                    if is_same && may_ask {
                        self.ask(ticket, Some(PATIENCE));
                    }
                }
            }
        }
    }

    /// Asks the device whether the submission of this turn has run, and ends the turn with what it says. Without an answer
    /// within the limit the turn stays as it is; without a limit, what may not have run has failed.
    fn ask(&self, ticket: u64, limit: Option<Duration>) {
        let mut question = Question { gpu: self, ticket, answer: Ran::Unknown, is_final: limit.is_none() };
        question.answer = self.has_run(ticket, limit);
    }

    /// Submits a recording, or a piece of one. This thread has the turn.
    fn take_turn(&self, recording: Recording, ticket: u64) {
        let holder = Holder::new(self, recording, ticket);
        match self.submit_recording(&holder.recording, ticket) {
            Sent::Made(index) => holder.made(index),
            Sent::Refused(failure) => holder.refused(&failure),
            Sent::Doubtful(index, failure) => {
                holder.doubt(index, failure);
                self.ask(ticket, None);
            }
        }
    }

    /// Encodes the commands and submits them.
    fn submit_recording(&self, recording: &Recording, ticket: u64) -> Sent {
        let (device, queue) = (&self.inner.device, &self.inner.queue);
        let mut ring = recording.needs_ring().then(|| self.inner.recorder.lock().rings.pop());
        let encoded = caught(device, || {
            let mut ring = ring.as_mut().map(|ring| {
                let ring = ring.get_or_insert_with(|| Ring::new(device, LAUNCHES_AT_MOST));
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
            Err(error) => return Sent::Refused(Failure::of(recording, &error)),
        };
        if let Some(turn) = &mut self.inner.recorder.lock().turn {
            turn.phase = Phase::Submitting;
        }
        let (index, error) = caught_beside(device, || foreign(|| queue.submit([commands])));
        let mut state = self.inner.recorder.lock();
        state.counts.submits += 1;
        state.rings.extend(ring.flatten());
        drop(state);
        match error {
            None => Sent::Made(index),
            Some(error) if is_of_submit(&error) => Sent::Doubtful(index, Failure::of(recording, &error)),
            // NOTE: the scope has seen what a callback of the application's has raised in there. wgpu offers no way to
            // hand it on to the handler that it was meant for.
            Some(error) => {
                log::error!("an error in an application's callback: {error}");
                Sent::Made(index)
            }
        }
    }

    /// Tells the fault if the device is lost. NOTE: what is created on a lost device is invalid, and using it fails before
    /// the loss is told, which is when all work has ended and some thread that polls has called back. What tells at once is
    /// a submission: a lost device takes none, not even an empty one.
    pub(super) fn look_for_loss(&self) {
        #[cfg(not(target_arch = "wasm32"))]
        if self.inner.fault.check().is_ok() {
            let (device, queue) = (&self.inner.device, &self.inner.queue);
            // What is wrong with a submission of nothing is told by the wait, whose error is kept as the fault.
            let (index, _) = caught_beside(device, || foreign(|| queue.submit([])));
            let _ = self.wait_for(&index);
        }
    }

    /// The cause of an error: the loss, if the device is lost, else the error itself.
    pub(super) fn cause_of(&self, error: wgpu::Error) -> Error {
        self.look_for_loss();
        self.inner.fault.check().err().unwrap_or_else(|| told(error))
    }

    /// Waits for a submission, running its callbacks in this thread.
    pub(super) fn wait_for(&self, index: &wgpu::SubmissionIndex) -> Result<()> {
        let polled = poll(&self.inner.device, Some(index), None);
        polled.map(|_| ()).inspect_err(|error| self.inner.fault.mark_lost(error.to_string()))
    }

    /// Waits for everything that has been submitted.
    pub(super) fn wait_for_last(&self) -> Result<()> {
        let (_, last) = self.inner.recorder.lock().last.clone();
        match last {
            Last::Never => Ok(()),
            Last::At(index) => self.wait_for(&index),
            Last::Unknown => poll(&self.inner.device, None, None).map(|_| ()),
        }
    }
}

/// What became of a recording.
enum Sent {
    /// It is with the queue.
    Made(wgpu::SubmissionIndex),
    /// Nothing of it is.
    Refused(Failure),
    /// wgpu has refused it, or another submission that a callback has made inside it.
    Doubtful(wgpu::SubmissionIndex, Failure),
}

/// The recording of a turn. Whoever has it ends the turn, whatever happens: a panic of a callback goes through here.
struct Holder<'a> {
    gpu: &'a Gpu,
    recording: Recording,
    ticket: u64,
    /// The submission, once it is made.
    index: Option<wgpu::SubmissionIndex>,
    /// Whether it is known what became of the recording.
    is_known: bool,
    /// Whether the turn goes on without this holder.
    is_left: bool,
}

impl<'a> Holder<'a> {
    fn new(gpu: &'a Gpu, recording: Recording, ticket: u64) -> Self {
        Self { gpu, recording, ticket, index: None, is_known: false, is_left: false }
    }

    /// The recording is with the queue.
    fn made(mut self, index: wgpu::SubmissionIndex) {
        // NOTE: nobody else sets it.
        let _ = self.recording.outcome.set(Ok(index.clone()));
        self.index = Some(index);
        self.is_known = true;
    }

    /// Nothing of it is.
    fn refused(mut self, failure: &Failure) {
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
    fn doubt(mut self, index: wgpu::SubmissionIndex, failure: Failure) {
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

impl State {
    /// Begins a turn; returns its ticket.
    fn begin_turn(&mut self, thread: ThreadId, recording: &Recording) -> u64 {
        let Recording { number, goes_on, .. } = *recording;
        self.turns += 1;
        let ticket = self.turns;
        self.turn = Some(Turn { thread, phase: Phase::Encoding, ticket, number, goes_on });
        ticket
    }

    /// Ends the turn, if it is still this one: the recording is through, unless more pieces of it follow.
    fn end_turn(&mut self, ticket: u64) {
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

/// Why a recording could not be submitted.
struct Failure {
    why: Why,
    /// Whether one launch may have caused it, so that the launches are to be submitted one by one.
    is_one_launchs: bool,
}

impl Failure {
    fn of(recording: &Recording, error: &wgpu::Error) -> Self {
        let why = Arc::from(format!("{} failed: {error}", recording.name()));
        Self { why, is_one_launchs: matches!(error, wgpu::Error::Validation { .. }) }
    }
}

/// Whether the error says that wgpu refused a submission.
fn is_of_submit(error: &wgpu::Error) -> bool {
    let source = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    [error.to_string(), source].iter().any(|said| said.contains("Queue::submit"))
}

/// Whether what was waited for is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Polled {
    Done,
    TimedOut,
}

/// Waits for a submission, or for all; for so long at most, if a limit is given. NOTE: wgpu panics where the device is lost
/// while it waits; that is caught here. A panic of a callback, the application's own, goes on.
pub(super) fn poll(
    device: &wgpu::Device,
    index: Option<&wgpu::SubmissionIndex>,
    limit: Option<Duration>,
) -> Result<Polled> {
    let wait = wgpu::PollType::Wait { submission_index: index.cloned(), timeout: limit };
    match foreign(|| catch_unwind(AssertUnwindSafe(|| device.poll(wait)))) {
        Ok(Ok(_)) => Ok(Polled::Done),
        Ok(Err(wgpu::PollError::Timeout)) => Ok(Polled::TimedOut),
        // A device that is lost takes no submission, and says so only here: there is nothing with that index.
        Ok(Err(wgpu::PollError::WrongSubmissionIndex(..))) => {
            Err(Error::device("the device was lost before the submission"))
        }
        Err(panic) => {
            let said = panic.downcast_ref::<String>().map_or("", String::as_str);
            if said.contains("Device::poll") {
                return Err(Error::device("the device was lost while waiting for it"));
            }
            resume_unwind(panic)
        }
    }
}
