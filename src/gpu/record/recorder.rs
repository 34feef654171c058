//! The recorder: the open recording, the closed recordings that wait to be submitted, and counters.

use super::captured::Captured;
use super::counts::Counts;
use super::recording::Recording;
use super::scope::{Scope, Scoped, Sink};
use super::submit_turn::{Phase, SubmitTurn};
use super::upload_count::UploadCount;
use super::work::Tail;
use crate::gpu::buffers::failures::Reason;
use crate::gpu::buffers::storage::Storage;
use crate::gpu::buffers::taken_work::{TakenStage, TakenWork};
use crate::gpu::driver::lock::Lock;
use crate::gpu::kernels::ring::{MAX_LAUNCHES, Ring};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar};
use std::thread::ThreadId;

/// Predicted seconds of work at which a recording is submitted automatically, so that the device starts while the host
/// continues to record.
const MAX_SECONDS: f64 = 2e-3;

/// Number of copies at which a recording is submitted automatically.
const MAX_COPIES: usize = 64;

/// Recorded work that is not yet submitted, behind one lock. No call of wgpu is made while this lock is held.
pub(in crate::gpu) struct Recorder {
    state: Lock<RecorderState>,
    /// Notified when a turn has ended.
    pub(in crate::gpu) turn_ended: Condvar,
}

pub(in crate::gpu) struct RecorderState {
    /// The work that this crate submits, automatically once there are [`MAX_LAUNCHES`] launches.
    pub(in crate::gpu) open: Recording,
    /// The scopes of `record_into`, in whose closures threads record: at most one active scope for each thread.
    pub(in crate::gpu) scopes: Vec<Scope>,
    /// Recordings that were taken and are perhaps not submitted, by their numbers.
    pub(in crate::gpu) taken: Vec<(u64, Arc<TakenWork>)>,
    /// Closed recordings, in the order of their numbers.
    pub(in crate::gpu) closed: VecDeque<Recording>,
    /// The current turn to submit, if a thread has one.
    pub(in crate::gpu) turn: Option<SubmitTurn>,
    /// Every recording up to this number has been submitted or has failed.
    pub(in crate::gpu) done_up_to: u64,
    /// The last submission, and the ticket of the turn that made it.
    pub(in crate::gpu) last_submission: (u64, LastSubmission),
    /// Number of turns so far.
    pub(in crate::gpu) turns: u64,
    /// The first failure of a launch that no call has returned yet.
    pub(in crate::gpu) failure: Option<Reason>,
    /// Rings for dims that are free for the next submission.
    pub(in crate::gpu) rings: Vec<Ring>,
    /// Whether the open recording is being timed. It is then not submitted before the timing ends.
    pub(in crate::gpu) timed: bool,
    /// Closures that are timed on the host's clock.
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::gpu) timed_by_host: u32,
    pub(in crate::gpu) counts: Counts,
    pub(in crate::gpu) uploads: UploadCount,
    /// Clock of launches, reads, and writes of whole storages.
    sequence: u64,
}

/// The last submission.
#[derive(Clone)]
pub(in crate::gpu) enum LastSubmission {
    /// There was none.
    Never,
    At(wgpu::SubmissionIndex),
    /// The submitting thread does not know the index yet, because a callback is running inside `submit`; or it never
    /// will, because that callback panicked.
    Unknown,
}

impl Recorder {
    pub(in crate::gpu) fn new() -> Self {
        let state = RecorderState {
            open: Recording::new(1),
            scopes: Vec::new(),
            taken: Vec::new(),
            closed: VecDeque::new(),
            turn: None,
            done_up_to: 0,
            last_submission: (0, LastSubmission::Never),
            turns: 0,
            failure: None,
            rings: Vec::new(),
            timed: false,
            #[cfg(not(target_arch = "wasm32"))]
            timed_by_host: 0,
            counts: Counts::default(),
            uploads: UploadCount::default(),
            sequence: 0,
        };
        Self { state: Lock::new(state), turn_ended: Condvar::new() }
    }

    pub(in crate::gpu) fn lock(&self) -> crate::gpu::driver::lock::Locked<'_, RecorderState> {
        self.state.lock()
    }
}

impl RecorderState {
    /// Advances the clock of launches, writes and reads. The first value is 1.
    pub(in crate::gpu) fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// The first recording that is not yet submitted. An upload may write to a buffer only if neither this recording
    /// nor a later one uses the buffer.
    pub(in crate::gpu) fn first_unsubmitted(&self) -> u64 {
        self.done_up_to + 1
    }

    /// The scope of the calling thread, if it is in the closure of a `record_into`.
    pub(in crate::gpu) fn scope(&mut self) -> Option<&mut Scope> {
        if self.scopes.is_empty() {
            return None;
        }
        let this = std::thread::current().id();
        self.scopes.iter_mut().find(|scope| scope.thread == this && scope.scoped == Scoped::Active)
    }

    /// Ends the scope of this work, and returns its recording; None if it has ended already.
    pub(in crate::gpu) fn end_scope(&mut self, work: &Arc<TakenWork>) -> Option<Sink> {
        let at = self.scopes.iter().position(|scope| Arc::ptr_eq(&scope.work, work))?;
        Some(self.scopes.swap_remove(at).sink)
    }

    /// Whether the calling thread is in the closure of a `capture`.
    pub(in crate::gpu) fn is_capturing(&mut self) -> bool {
        self.captured().is_some()
    }

    /// What this thread captures.
    pub(in crate::gpu) fn captured(&mut self) -> Option<&mut Captured> {
        match &mut self.scope()?.sink {
            Sink::Capture(captured) => Some(captured),
            Sink::Recording(_) => None,
        }
    }

    /// Whether this thread may wait for submitted work: it neither encodes nor is in the closure of a scope.
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::gpu) fn may_wait(&mut self) -> bool {
        self.scope().is_none() && !self.is_encoded_by(std::thread::current().id())
    }

    /// Taken work that uses this storage's buffer on behalf of an earlier owner, and is not yet submitted. The buffer must
    /// not be used before it: neither written, nor read, which would make another recording its last user.
    pub(in crate::gpu) fn taken_from(&self, storage: &Storage) -> Option<Arc<TakenWork>> {
        if self.taken.is_empty() {
            return None;
        }
        let last_use = storage.contents.last_use();
        let is_earlier = |(number, work): &&(u64, Arc<TakenWork>)| {
            *number == last_use && work.stage() == TakenStage::Unsubmitted && !storage.taken.has(work)
        };
        self.taken.iter().find(is_earlier).map(|(_, work)| work.clone())
    }

    /// The taken work that the calling thread records for, if it is in the closure of a `record_into`.
    pub(in crate::gpu) fn own_work(&mut self) -> Option<Arc<TakenWork>> {
        self.scope().map(|scope| scope.work.clone())
    }

    /// Whether there is work to submit.
    pub(in crate::gpu) fn has_work(&self) -> bool {
        self.open.len() > 0 || self.uploads.staged() > 0
    }

    /// Closes the open recording, which is then the last in the order of submission. Returns its number.
    pub(in crate::gpu) fn close(&mut self, tail: Option<Tail>) -> u64 {
        let number = self.open.number;
        let next = self.open.following();
        let mut closed = std::mem::replace(&mut self.open, next);
        closed.tail = tail;
        self.uploads.close(&closed.outcome);
        self.closed.push_back(closed);
        number
    }

    /// Whether work is being timed, on any clock.
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::gpu) fn is_timed(&self) -> bool {
        self.timed || self.timed_by_host > 0
    }

    pub(in crate::gpu) fn is_full(&self) -> bool {
        let due = !self.timed && self.open.seconds >= MAX_SECONDS;
        due || self.open.launches() >= MAX_LAUNCHES || self.open.copies() >= MAX_COPIES
    }
}

impl RecorderState {
    /// Begins a turn. Returns its ticket.
    pub(in crate::gpu) fn begin_turn(&mut self, thread: ThreadId, recording: &Recording) -> u64 {
        let Recording { number, has_more_pieces, .. } = *recording;
        self.turns += 1;
        let ticket = self.turns;
        self.turn = Some(SubmitTurn { thread, phase: Phase::Encoding, ticket, number, has_more_pieces });
        ticket
    }

    /// Whether this thread is encoding commands. A callback that it runs can then neither submit nor wait.
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::gpu) fn is_encoded_by(&self, thread: ThreadId) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.thread == thread && matches!(turn.phase, Phase::Encoding))
    }

    /// Ends the turn, if it is still the current one. Its recording is then complete, unless more pieces of it follow.
    pub(in crate::gpu) fn end_turn(&mut self, ticket: u64) {
        if let Some(turn) = self.turn.take_if(|turn| turn.ticket == ticket) {
            if matches!(turn.phase, Phase::Submitting) && ticket > self.last_submission.0 {
                self.last_submission = (ticket, LastSubmission::Unknown);
            }
            if !turn.has_more_pieces {
                self.done_up_to = self.done_up_to.max(turn.number);
            }
        }
    }
}
