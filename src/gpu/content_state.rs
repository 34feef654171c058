//! What is known of a storage's contents: which recording used it last, and which launches that should have written it have
//! failed.
//!
//! Launches and whole writes are counted by one clock, the *sequence*. Whoever reads a storage at sequence r sees a failure at
//! f if the storage was last written as a whole at s with s <= f < r. So a result that was never computed stays an error,
//! however often it is read, until it is written again from end to end.

use super::lock::Lock;
use crate::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Reason a launch failed; the text has the launch's name.
pub(super) type Reason = Arc<str>;

/// So many failures of one storage are told apart. Older ones count as one, which may have happened at any time between
/// them.
const MAX_FAILURES: usize = 64;

/// The state of one storage, shared by its tensors and by the recordings that use it.
#[derive(Default)]
pub(crate) struct ContentState {
    /// The last recording that uses the storage.
    last_use: AtomicU64,
    /// The sequence of the last launch that writes to it; 0: none.
    last_write: AtomicU64,
    /// The sequence of the last write of the whole storage; 0: none.
    last_whole_write: AtomicU64,
    /// Whether there are failures.
    has_failures: AtomicBool,
    failures: Lock<Vec<Failure>>,
}

/// A launch that failed, or several, between these sequences.
struct Failure {
    first: u64,
    last: u64,
    why: Reason,
}

impl ContentState {
    /// The state of a new storage in a reused buffer, which recording `used_by` used last for an earlier owner.
    pub(super) fn of_reused_buffer(last_use: u64) -> Self {
        Self { last_use: last_use.into(), ..Self::default() }
    }

    /// Notes that a recording uses the storage.
    pub(super) fn note_use(&self, recording: u64) {
        self.last_use.fetch_max(recording, Ordering::Relaxed);
    }

    /// The last recording that uses the storage.
    pub(super) fn last_use(&self) -> u64 {
        self.last_use.load(Ordering::Relaxed)
    }

    /// Notes a launch that writes to the storage.
    pub(super) fn note_write(&self, sequence: u64) {
        self.last_write.fetch_max(sequence, Ordering::Relaxed);
    }

    /// The sequence of the last launch that writes to the storage.
    pub(super) fn last_write(&self) -> u64 {
        self.last_write.load(Ordering::Relaxed)
    }

    /// Notes a write of the whole storage, which begins here.
    pub(super) fn note_whole_write(&self, sequence: u64) {
        self.last_whole_write.fetch_max(sequence, Ordering::Relaxed);
    }

    /// The sequence of the last write of the whole storage.
    pub(super) fn last_whole_write(&self) -> u64 {
        self.last_whole_write.load(Ordering::Relaxed)
    }

    /// Notes that the launch at `sequence` failed to write the storage.
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

    /// Reason a launch or read at `sequence` cannot use the storage, which was last written as a whole at `since`.
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
    fn a_failure_does_not_reach_behind_the_writes_that_follow_it() {
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
    fn a_failure_that_is_told_after_a_whole_write_does_not_reach_behind_it() {
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
    fn of_many_failures_none_is_forgotten() {
        let (contents, why) = (ContentState::default(), Reason::from("it broke"));
        for sequence in (10..1000).step_by(10) {
            contents.fail(sequence, &why);
            contents.note_whole_write(sequence + 5);
        }
        assert!(contents.check().is_ok());
        assert!((10..1000).step_by(10).all(|sequence| is_seen(&contents, sequence - 5, sequence + 1)));
        assert!(
            (500..1000).step_by(10).all(|sequence| !is_seen(&contents, sequence + 5, sequence + 6)),
            "the last ones are apart"
        );
    }
}
