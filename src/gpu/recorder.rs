//! The recorder: the open recording, the closed ones that wait to be submitted, and counters.

use super::lock::Lock;
use super::mark::Why;
use super::recording::{BoundWindow, Recording, Tail, Use};
use super::ring::Ring;
use super::turn::Turn;
use super::uploads::Uploads;
use std::collections::VecDeque;
use std::sync::Condvar;

/// A recording with this many launches is submitted by itself.
pub(super) const LAUNCHES_AT_MOST: usize = 64;
/// So is one with this much predicted work: the device starts while the host goes on.
const SECONDS_AT_MOST: f64 = 2e-3;

/// What is recorded and not submitted, behind one lock. No call of wgpu is made under it.
pub(super) struct Recorder {
    state: Lock<State>,
    /// Notified when a turn has ended.
    pub(super) turn_ended: Condvar,
}

pub(super) struct State {
    pub(super) open: Recording,
    /// Recordings that are closed, in the order of their numbers.
    pub(super) closed: VecDeque<Recording>,
    /// Whose turn it is to submit.
    pub(super) turn: Option<Turn>,
    /// Every recording up to this number was submitted or has failed.
    pub(super) through: u64,
    /// The ticket of the turn that made the last submission, and that submission.
    pub(super) last: (u64, Last),
    /// How many turns have begun.
    pub(super) turns: u64,
    /// The first failure of a launch since a call returned one.
    pub(super) failure: Option<Why>,
    /// Rings for dims, free for the next submission.
    pub(super) rings: Vec<Ring>,
    /// Whether work is being timed: then the recording is not submitted before the timing ends.
    pub(super) timed: bool,
    pub(super) counts: Counts,
    pub(super) uploads: Uploads,
    /// Counts launches, reads and writes of whole storages.
    sequence: u64,
}

/// The last submission.
#[derive(Clone)]
pub(super) enum Last {
    /// There was none.
    Never,
    At(wgpu::SubmissionIndex),
    /// The thread that made it does not know its index yet, or never will: a callback in `submit` is running, or has panicked.
    Unknown,
}

/// Counters of launches and submissions.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) launches: u64,
    pub(super) submits: u64,
    pub(super) bytes_bound_for_reading: u64,
    pub(super) bytes_bound_for_writing: u64,
}

impl Recorder {
    pub(super) fn new() -> Self {
        let state = State {
            open: Recording::new(1),
            closed: VecDeque::new(),
            turn: None,
            through: 0,
            last: (0, Last::Never),
            turns: 0,
            failure: None,
            rings: Vec::new(),
            timed: false,
            counts: Counts::default(),
            uploads: Uploads::default(),
            sequence: 0,
        };
        Self { state: Lock::new(state), turn_ended: Condvar::new() }
    }

    pub(super) fn lock(&self) -> super::lock::Locked<'_, State> {
        self.state.lock()
    }
}

impl State {
    /// The number of the next launch, write or read, counted from 1.
    pub(super) fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// The first recording that is not submitted. An upload may write to a buffer that neither it nor a later one uses.
    pub(super) fn first_unsubmitted(&self) -> u64 {
        self.through + 1
    }

    /// Whether there is anything to submit.
    pub(super) fn has_work(&self) -> bool {
        self.open.len() > 0 || self.uploads.staged() > 0
    }

    /// Closes the open recording, to be submitted after those before it. Returns its number.
    pub(super) fn close(&mut self, tail: Option<Tail>) -> u64 {
        let number = self.open.number;
        let mut closed = std::mem::replace(&mut self.open, Recording::new(number + 1));
        closed.tail = tail;
        self.uploads.close(&closed.outcome);
        self.closed.push_back(closed);
        number
    }

    pub(super) fn is_full(&self) -> bool {
        let due = !self.timed && self.open.seconds >= SECONDS_AT_MOST;
        due || self.open.len() >= LAUNCHES_AT_MOST
    }

    pub(super) fn count(&mut self, bound: &[BoundWindow]) {
        self.counts.launches += 1;
        for bound in bound {
            let bytes = bound.window.end - bound.window.start;
            match bound.access {
                Use::Read => self.counts.bytes_bound_for_reading += bytes,
                Use::Write | Use::Overwrite { .. } => self.counts.bytes_bound_for_writing += bytes,
            }
        }
    }
}
