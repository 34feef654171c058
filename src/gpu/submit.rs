//! Turns: recordings go to the queue one at a time, in the order of their numbers, by whichever thread needs them there.
//!
//! wgpu runs callbacks inside `submit`, the application's too, and they may call us. So no lock is held there. What keeps the
//! order is the turn: a thread takes the recording in front and holds the turn until that is with the queue. Others wait for
//! the turn's end. A callback inside our own submission finds the turn with its own thread: the submission that it runs in has
//! been made, so the turn has ended. A callback may wait for another thread there, too, which then asks the device.

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

/// Who submits, and how far it is.
pub(super) struct Turn {
    thread: ThreadId,
    phase: Phase,
    /// Counts turns.
    ticket: u64,
    /// The recording that is submitted, and whether more pieces of it follow.
    number: u64,
    goes_on: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Commands are made: nothing is with the queue yet.
    Encoding,
    /// wgpu's `submit` has been called: callbacks that run in it run behind the submission.
    Submitting,
}

/// A turn is waited for so long before the device is asked whether its submission has run.
const PATIENCE: Duration = Duration::from_millis(20);

impl Gpu {
    /// Submits what is recorded, uploads included. Work that the application submits afterwards sees its results.
    ///
    /// # Errors
    /// [`Error::Device`] if the device is lost, or if a launch has failed of which no call has told yet.
    pub fn flush(&self) -> Result<()> {
        self.inner.fault.check()?;
        self.submit_all()?;
        self.take_failure()
    }

    /// Submits what is recorded and waits until all of it is done.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn wait(&self) -> Result<()> {
        self.flush()?;
        self.wait_for_last()?;
        self.inner.fault.check()
    }

    /// Closes the recording and sees to it that it, and all before it, are with the queue.
    pub(super) fn submit_all(&self) -> Result<()> {
        let mut state = self.inner.recorder.lock();
        let number = if state.has_work() { state.close(None) } else { state.open.number - 1 };
        drop(state);
        self.hand_over(number)
    }

    /// The first failure of a launch that no call has returned yet, as an error.
    pub(super) fn take_failure(&self) -> Result<()> {
        let failure = self.inner.recorder.lock().failure.take();
        self.inner.fault.check()?;
        failure.map_or(Ok(()), |why| Err(Error::device(why.to_string())))
    }

    /// Returns when every recording up to `number` is with the queue or has failed. What failed is marked.
    ///
    /// # Errors
    /// [`Error::Device`] if that cannot be, where a callback is called in the midst of making commands.
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

    /// Ends another thread's turn if the device has run its submission: a callback of the application's keeps the thread in
    /// there.
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

    /// Submits a recording, or a piece of one, as the holder of the turn.
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

    /// Makes the commands and hands them to the queue.
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

    /// Whether this turn's submission is with the queue, where wgpu says that a submission was refused: that may have been
    /// another one, of a callback of the application's. What has run must not run again.
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

    /// Tells the fault if the device is lost. NOTE: what is created on a lost device is invalid, and using it fails before
    /// the loss is told, which is when all work has ended and some thread that polls has called back. What tells at once is
    /// a submission: a lost device takes none, not even an empty one.
    pub(super) fn look_for_loss(&self) {
        #[cfg(not(target_arch = "wasm32"))]
        if self.inner.fault.check().is_ok() {
            let index = foreign(|| self.inner.queue.submit([]));
            // An error of the wait is kept as the fault.
            let _ = self.wait_for(&index);
        }
    }

    /// What is behind an error: a loss, if the device is lost.
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

/// Whoever has the turn gives it back, whatever happens: a panic of a callback goes through here.
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

    /// Puts pieces of the recording in its place.
    fn split(&mut self, why: &Why) {
        let empty = Recording::piece_of(&self.recording);
        let pieces = std::mem::replace(&mut self.recording, empty).split(why);
        let mut state = self.gpu.inner.recorder.lock();
        pieces.into_iter().rev().for_each(|piece| state.closed.push_front(piece));
        if let Some(turn) = &mut state.turn {
            turn.goes_on = true;
        }
    }

    /// Marks what a panic has kept from the queue. One of a callback comes behind the submission, and keeps nothing.
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

    /// Ends the turn: the recording is through, unless more pieces of it follow.
    fn end_turn(&mut self) {
        if let Some(turn) = self.turn.take() {
            self.through = if turn.goes_on { self.through } else { turn.number };
        }
    }
}

/// Why a recording could not be submitted.
struct Failure {
    why: Why,
    /// Whether it may be due to one launch, and the others are to be tried without it.
    is_one_launchs: bool,
}

impl Failure {
    fn of(recording: &Recording, error: &wgpu::Error) -> Self {
        let why = Arc::from(format!("{} failed: {error}", recording.name()));
        Self { why, is_one_launchs: matches!(error, wgpu::Error::Validation { .. }) }
    }
}

/// Whether wgpu says that it was a submission that it has refused.
fn is_of_submit(error: &wgpu::Error) -> bool {
    let source = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    [error.to_string(), source].iter().any(|said| said.contains("Queue::submit"))
}

/// Waits for a submission, or for all. NOTE: wgpu panics where the device is lost while it waits; that is caught here. A panic
/// of a callback, the application's own, goes on.
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
