//! Submitting: recordings go to the queue one at a time, in the order of their numbers, each in the turn of the thread that
//! needs it there.

use super::fault::{caught, caught_beside};
use super::handle::Gpu;
use super::lock::foreign;
use super::recorder::LAUNCHES_AT_MOST;
use super::recording::Recording;
use super::ring::Ring;
use super::turn::{Failure, Phase};
use super::turn_holder::Holder;
use crate::{Error, Result};
use std::time::Duration;

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

/// Whether the error says that wgpu refused a submission.
fn is_of_submit(error: &wgpu::Error) -> bool {
    let source = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    [error.to_string(), source].iter().any(|said| said.contains("Queue::submit"))
}
