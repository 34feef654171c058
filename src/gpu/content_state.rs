//! The state of a storage's contents: the last recording that uses it, and the launches that failed to write it.
//!
//! One clock, the *sequence*, counts launches and writes of whole storages. A reader at sequence r is affected by a
//! failure at f if the storage was last written as a whole at s, with s <= f < r. So a result that was never computed
//! stays an error, however often it is read, until the whole storage is written again.

use super::lock::Lock;
use crate::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Reason why a launch failed. The text contains the launch's name.
pub(super) type Reason = Arc<str>;

/// Maximum number of failures that one storage keeps separately. The oldest ones are merged into one range of
/// sequences; the merged failure counts for every sequence of that range.
const MAX_FAILURES: usize = 64;

/// The state of one storage's contents, shared by its tensors and by the recordings that use it.
#[derive(Default)]
pub(crate) struct ContentState {
    /// Number of the last recording that uses the storage.
    last_use: AtomicU64,
    /// Sequence of the last launch that writes to the storage; 0: none.
    last_write: AtomicU64,
    /// Sequence of the last write of the whole storage; 0: none.
    last_whole_write: AtomicU64,
    /// Whether `failures` is not empty.
    has_failures: AtomicBool,
    failures: Lock<Vec<Failure>>,
}

/// One failed launch, or several merged ones in this range of sequences.
struct Failure {
    first: u64,
    last: u64,
    why: Reason,
}

impl ContentState {
    /// The state of a new storage in a reused buffer. `last_use` is the last recording that used the buffer for an
    /// earlier owner.
    pub(super) fn of_reused_buffer(last_use: u64) -> Self {
        Self { last_use: last_use.into(), ..Self::default() }
    }

    /// Records that a recording uses the storage.
    pub(super) fn note_use(&self, recording: u64) {
        self.last_use.fetch_max(recording, Ordering::Relaxed);
    }

    /// Number of the last recording that uses the storage.
    pub(super) fn last_use(&self) -> u64 {
        self.last_use.load(Ordering::Relaxed)
    }

    /// Records that a launch writes to the storage.
    pub(super) fn note_write(&self, sequence: u64) {
        self.last_write.fetch_max(sequence, Ordering::Relaxed);
    }

    /// Sequence of the last launch that writes to the storage.
    pub(super) fn last_write(&self) -> u64 {
        self.last_write.load(Ordering::Relaxed)
    }

    /// Records a write of the whole storage that begins at this sequence.
    pub(super) fn note_whole_write(&self, sequence: u64) {
        self.last_whole_write.fetch_max(sequence, Ordering::Relaxed);
    }

    /// Sequence of the last write of the whole storage.
    pub(super) fn last_whole_write(&self) -> u64 {
        self.last_whole_write.load(Ordering::Relaxed)
    }

    /// Records that the launch at `sequence` failed to write the storage.
    pub(super) fn fail(&self, sequence: u64, why: &Reason) {
        let mut failures = self.failures.lock();
        if failures.len() == MAX_FAILURES {
            let oldest = failures.remove(0);
            failures[0].first = failures[0].first.min(oldest.first);
            failures[0].last = failures[0].last.max(oldest.last);
        }
        failures.push(Failure { first: sequence, last: sequence, why: why.clone() });
        self.has_failures.store(true, Ordering::Release);
    }

    /// The failure that a launch or read at `sequence` is affected by, given that the storage was last written as a
    /// whole at `since`.
    pub(super) fn failure_between(&self, since: u64, sequence: u64) -> Option<Reason> {
        if !self.has_failures.load(Ordering::Acquire) {
            return None;
        }
        let failures = self.failures.lock();
        let seen = failures.iter().find(|failure| since <= failure.last && failure.first < sequence);
        seen.map(|failure| failure.why.clone())
    }

    /// Fails if the storage's present contents were never written, because a launch failed.
    pub(super) fn check(&self) -> Result<(), Error> {
        match self.failure_between(self.last_whole_write(), u64::MAX) {
            None => Ok(()),
            Some(why) => Err(Error::device(why.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_seen(contents: &ContentState, since: u64, sequence: u64) -> bool {
        contents.failure_between(since, sequence).is_some()
    }

    #[test]
    fn a_failure_stays_until_the_whole_storage_is_written() {
        let (contents, why) = (ContentState::default(), Reason::from("it broke"));
        assert!(!is_seen(&contents, 0, 7) && contents.check().is_ok());
        contents.fail(5, &why);
        assert!(!is_seen(&contents, 0, 4) && !is_seen(&contents, 0, 5), "what came before it read good data");
        assert!(
            is_seen(&contents, 0, 6)
                && contents.check().is_err_and(|error| error.to_string().contains("it broke"))
        );
        contents.note_whole_write(8);
        assert!(is_seen(&contents, 0, 7), "a launch between the failure and the write read nothing good");
        assert!(!is_seen(&contents, 8, 9) && contents.check().is_ok());
        contents.fail(9, &why);
        assert!(contents.check().is_err(), "a later launch has failed");
    }

    #[test]
    fn a_failure_does_not_reach_past_the_writes_that_follow_it() {
        let (contents, why) = (ContentState::default(), Reason::from("it broke"));
        contents.fail(5, &why);
        contents.note_whole_write(7);
        contents.note_whole_write(9);
        assert!(
            !is_seen(&contents, 7, 8),
            "the launch at 8 reads what was written at 7, whatever is written later"
        );
        contents.fail(10, &why);
        assert!(is_seen(&contents, 0, 6), "a later failure does not hide an earlier one");
    }

    #[test]
    fn a_failure_that_is_reported_after_a_whole_write_does_not_reach_past_it() {
        let (contents, why) = (ContentState::default(), Reason::from("it broke"));
        contents.note_whole_write(8);
        contents.fail(5, &why);
        assert!(is_seen(&contents, 0, 6) && !is_seen(&contents, 8, 9) && contents.check().is_ok());
        contents.fail(8, &why);
        assert!(
            contents.check().is_err(),
            "the launch that should have written it all is the one that failed"
        );
    }

    #[test]
    fn no_failure_is_lost_if_there_are_many() {
        let (contents, why) = (ContentState::default(), Reason::from("it broke"));
        for sequence in (10..1000).step_by(10) {
            contents.fail(sequence, &why);
            contents.note_whole_write(sequence + 5);
        }
        assert!(contents.check().is_ok());
        assert!((10..1000).step_by(10).all(|sequence| is_seen(&contents, sequence - 5, sequence + 1)));
        assert!(
            (500..1000).step_by(10).all(|sequence| !is_seen(&contents, sequence + 5, sequence + 6)),
            "the last ones are kept separately"
        );
    }
}
