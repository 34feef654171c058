//! Turns: recordings are submitted one at a time, in the order of their numbers, by whichever thread needs them submitted.
//!
//! wgpu runs callbacks inside `submit`, those of the application too, and they may call this crate. So no lock is held there.
//! The turn keeps the order instead: a thread takes the first recording and holds the turn until it has submitted it. Other
//! threads wait until the turn ends. If a callback inside our `submit` wants to submit, it finds that its own thread has the
//! turn; the submission has been made by then, so it ends the turn. If such a callback waits for another thread, which waits
//! for the turn, that thread asks the device whether the submission has been made, and then ends the turn.

use super::Gpu;
use super::fault::{caught, caught_beside, told};
use super::lock::foreign;
use super::mark::Why;
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Commands are being encoded: nothing has been submitted yet.
    Encoding,
    /// wgpu's `submit` has been called: callbacks that it runs come after the submission itself.
    Submitting,
}

/// How long a thread waits for a turn to end before it asks the device whether the turn's submission has run.
const PATIENCE: Duration = Duration::from_millis(20);

impl Gpu {
    /// Submits all recorded launches and uploads. Work that the application submits afterwards sees their results.
    ///
    /// # Errors
    /// [`Error::Device`] if the device is lost, or if a launch has failed and no earlier call returned that error.
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

    /// Returns the first failure of a launch that no call has returned yet as an error.
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
            match &state.turn {
                None => match state.closed.pop_front() {
                    Some(recording) => {
                        let ticket = state.begin_turn(this, &recording);
                        drop(state);
                        self.take_turn(recording, ticket);
                    }
                    None => return Err(Error::device("a recording was lost: please report this")),
                },
                Some(turn) if turn.thread == this && turn.phase == Phase::Submitting => {
                    state.end_turn();
                    self.inner.recorder.turn_ended.notify_all();
                }
                Some(turn) if turn.thread == this => {
                    let why = "a callback was called while commands were made, and cannot submit there";
                    return Err(Error::device(why));
                }
                Some(turn) => {
                    let awaited = (turn.ticket, turn.phase == Phase::Submitting);
                    let state = state.wait(&self.inner.recorder.turn_ended, PATIENCE);
                    let is_same = state.turn.as_ref().is_some_and(|turn| turn.ticket == awaited.0);
                    drop(state);
                    if is_same && awaited.1 {
                        self.end_turn_if_run(awaited.0);
                    }
                }
            }
        }
    }

    /// Ends another thread's turn if the device has run its submission: then a callback of the application keeps that thread
    /// inside `submit`.
    fn end_turn_if_run(&self, ticket: u64) {
        if self.has_run(ticket) {
            let mut state = self.inner.recorder.lock();
            if state.turn.as_ref().is_some_and(|turn| turn.ticket == ticket) {
                state.end_turn();
            }
            drop(state);
            self.inner.recorder.turn_ended.notify_all();
        }
    }

    /// Submits a recording, or a piece of one. This thread has the turn.
    fn take_turn(&self, recording: Recording, ticket: u64) {
        let mut holder = Holder { gpu: self, recording, ticket, index: None };
        match self.submit_recording(&holder.recording, ticket) {
            Ok(index) => {
                // NOTE: nobody else sets it.
                let _ = holder.recording.outcome.set(Ok(index.clone()));
                holder.index = Some(index);
            }
            Err(Failure { why, is_one_launchs: true }) if !holder.recording.is_single() => {
                // Nothing of it ran. One by one, what is not at fault runs, and what is gets its name.
                holder.split(&why);
            }
            Err(Failure { why, .. }) => {
                holder.fail(&why);
                drop(holder);
                self.look_for_loss();
            }
        }
    }

    /// Encodes the commands and submits them.
    fn submit_recording(&self, recording: &Recording, ticket: u64) -> Result<wgpu::SubmissionIndex, Failure> {
        let (device, queue) = (&self.inner.device, &self.inner.queue);
        let mut ring = recording.needs_ring().then(|| self.inner.recorder.lock().rings.pop());
        let encoded = caught(device, || {
            let ring = ring.as_mut().map(|ring| {
                let ring = ring.get_or_insert_with(|| Ring::new(device, LAUNCHES_AT_MOST));
                ring.clear();
                ring
            });
            recording.encode(device, ring, (&self.inner.progress, ticket))
        });
        let commands = encoded.map_err(|error| Failure::of(recording, &error))?;
        if let Some(turn) = &mut self.inner.recorder.lock().turn {
            turn.phase = Phase::Submitting;
        }
        let (index, error) = caught_beside(device, || {
            if let Some(Some(ring)) = &mut ring {
                ring.write(queue);
            }
            foreign(|| queue.submit([commands]))
        });
        let mut state = self.inner.recorder.lock();
        state.counts.submits += 1;
        state.rings.extend(ring.flatten());
        drop(state);
        match error {
            None => Ok(index),
            Some(error) if is_of_submit(&error) && !self.was_submitted(ticket) => {
                Err(Failure::of(recording, &error))
            }
            // NOTE: the scope has seen what a callback of the application's has raised in there. wgpu offers no way to
            // hand it on to the handler that it was meant for.
            Some(error) => {
                log::error!("an error in an application's callback: {error}");
                Ok(index)
            }
        }
    }

    /// Whether this turn's submission was made, although wgpu reported that one was refused: that may have been another one,
    /// which a callback of the application made. A submission that was made must not be repeated.
    fn was_submitted(&self, ticket: u64) -> bool {
        let mut state = self.inner.recorder.lock();
        match &mut state.turn {
            // Callbacks that run while the device is asked must not take the submission for made.
            Some(turn) if turn.ticket == ticket => turn.phase = Phase::Encoding,
            // A callback has found it made.
            _ => return true,
        }
        drop(state);
        self.has_run(ticket)
    }

    /// Notes in the fault if the device is lost. NOTE: wgpu reports a loss only after all work has ended and some thread has
    /// polled. Before that, objects that are created on the lost device are invalid, and using them fails with other errors. An
    /// empty submission shows the loss at once: a lost device refuses it.
    pub(super) fn look_for_loss(&self) {
        #[cfg(not(target_arch = "wasm32"))]
        if self.inner.fault.check().is_ok() {
            let index = foreign(|| self.inner.queue.submit([]));
            // An error of the wait is kept as the fault.
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
        poll(&self.inner.device, Some(index))
            .inspect_err(|error| self.inner.fault.mark_lost(error.to_string()))
    }

    /// Waits for everything that has been submitted.
    pub(super) fn wait_for_last(&self) -> Result<()> {
        let (_, last) = self.inner.recorder.lock().last.clone();
        match last {
            Last::Never => Ok(()),
            Last::At(index) => self.wait_for(&index),
            Last::Unknown => poll(&self.inner.device, None),
        }
    }
}

/// Ends the turn when it is dropped, even if a callback panics.
struct Holder<'a> {
    gpu: &'a Gpu,
    recording: Recording,
    ticket: u64,
    index: Option<wgpu::SubmissionIndex>,
}

impl Holder<'_> {
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
        if let Some(turn) = &mut state.turn {
            turn.goes_on = true;
        }
    }

    /// Marks the recording as failed if the panic came before it was submitted. A panic of a callback comes after that.
    fn panicked(&self) {
        let encoding = |turn: &Turn| turn.ticket == self.ticket && turn.phase == Phase::Encoding;
        let is_lost = self.gpu.inner.recorder.lock().turn.as_ref().is_some_and(encoding);
        if is_lost {
            self.fail(&"a panic while commands were made".into());
        }
    }
}

impl Drop for Holder<'_> {
    fn drop(&mut self) {
        let panicking = std::thread::panicking();
        if panicking {
            self.panicked();
        }
        let mut state = self.gpu.inner.recorder.lock();
        let last = match self.index.take() {
            Some(index) => Some(Last::At(index)),
            None => panicking.then_some(Last::Unknown),
        };
        // A submission that a callback made in the midst of this one is the later one.
        if let Some(last) = last.filter(|_| self.ticket > state.last.0) {
            state.last = (self.ticket, last);
        }
        if state.turn.as_ref().is_some_and(|turn| turn.ticket == self.ticket) {
            state.end_turn();
        }
        drop(state);
        self.gpu.inner.recorder.turn_ended.notify_all();
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

    /// Ends the turn: the recording is done, unless more pieces of it follow.
    fn end_turn(&mut self) {
        if let Some(turn) = self.turn.take() {
            self.through = if turn.goes_on { self.through } else { turn.number };
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

/// Waits for a submission, or for all. NOTE: wgpu panics if the device is lost while it waits; that panic is caught here. A
/// panic of a callback of the application is passed on.
pub(super) fn poll(device: &wgpu::Device, index: Option<&wgpu::SubmissionIndex>) -> Result<()> {
    let wait = wgpu::PollType::Wait { submission_index: index.cloned(), timeout: None };
    match foreign(|| catch_unwind(AssertUnwindSafe(|| device.poll(wait)))) {
        // A device that is lost takes no submission, and says so only here: there is nothing with that index.
        Ok(Err(wgpu::PollError::WrongSubmissionIndex(..))) => {
            Err(Error::device("the device was lost before the submission"))
        }
        Ok(polled) => polled.map(|_| ()).map_err(Error::device),
        Err(panic) => {
            let said = panic.downcast_ref::<String>().map_or("", String::as_str);
            if said.contains("Device::poll") {
                return Err(Error::device("the device was lost while waiting for it"));
            }
            resume_unwind(panic)
        }
    }
}
