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

/// Why a launch failed; the text has the launch's name.
pub(super) type Why = Arc<str>;

/// So many failures of one storage are told apart. Older ones count as one, which may have happened at any time between
/// them.
const FAILURES_AT_MOST: usize = 64;

/// The state of one storage, shared by its tensors and by the recordings that use it.
#[derive(Default)]
pub(crate) struct Mark {
    /// The last recording that uses the storage.
    used_by: AtomicU64,
    /// The sequence of the last launch that writes to it; 0: none.
    written: AtomicU64,
    /// The sequence of the last write of the whole storage; 0: none.
    whole: AtomicU64,
    /// Whether there are failures.
    has_failures: AtomicBool,
    failures: Lock<Vec<Failure>>,
}

/// A launch that failed, or several, between these sequences.
struct Failure {
    first: u64,
    last: u64,
    why: Why,
}

impl Mark {
    /// The state of a new storage in a reused buffer, which recording `used_by` used last for an earlier owner.
    pub(super) fn of_buffer(used_by: u64) -> Self {
        Self { used_by: used_by.into(), ..Self::default() }
    }

    /// Notes that a recording uses the storage.
    pub(super) fn used_by(&self, recording: u64) {
        self.used_by.fetch_max(recording, Ordering::Relaxed);
    }

    /// The last recording that uses the storage.
    pub(super) fn last_use(&self) -> u64 {
        self.used_by.load(Ordering::Relaxed)
    }

    /// Notes a launch that writes to the storage.
    pub(super) fn written(&self, sequence: u64) {
        self.written.fetch_max(sequence, Ordering::Relaxed);
    }

    /// The sequence of the last launch that writes to the storage.
    pub(super) fn last_write(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Notes a write of the whole storage, which begins here.
    pub(super) fn written_whole(&self, sequence: u64) {
        self.whole.fetch_max(sequence, Ordering::Relaxed);
    }

    /// The sequence of the last write of the whole storage.
    pub(super) fn last_whole_write(&self) -> u64 {
        self.whole.load(Ordering::Relaxed)
    }

    /// Notes that the launch at `sequence` failed to write the storage.
    pub(super) fn fail(&self, sequence: u64, why: &Why) {
        let mut failures = self.failures.lock();
        if failures.len() == FAILURES_AT_MOST {
            let oldest = failures.remove(0);
            failures[0].first = failures[0].first.min(oldest.first);
            failures[0].last = failures[0].last.max(oldest.last);
        }
        failures.push(Failure { first: sequence, last: sequence, why: why.clone() });
        self.has_failures.store(true, Ordering::Release);
    }

    /// Why a launch or read at `sequence` cannot use the storage, which was last written as a whole at `since`.
    pub(super) fn failure_between(&self, since: u64, sequence: u64) -> Option<Why> {
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

    fn is_seen(mark: &Mark, since: u64, sequence: u64) -> bool {
        mark.failure_between(since, sequence).is_some()
    }

    #[test]
    fn a_failure_stays_until_the_whole_storage_is_written() {
        let (mark, why) = (Mark::default(), Why::from("it broke"));
        assert!(!is_seen(&mark, 0, 7) && mark.check().is_ok());
        mark.fail(5, &why);
        assert!(!is_seen(&mark, 0, 4) && !is_seen(&mark, 0, 5), "what came before it read good data");
        assert!(
            is_seen(&mark, 0, 6) && mark.check().is_err_and(|error| error.to_string().contains("it broke"))
        );
        mark.written_whole(8);
        assert!(is_seen(&mark, 0, 7), "a launch between the failure and the write read nothing good");
        assert!(!is_seen(&mark, 8, 9) && mark.check().is_ok());
        mark.fail(9, &why);
        assert!(mark.check().is_err(), "a later launch has failed");
    }

    #[test]
    fn a_failure_does_not_reach_behind_the_writes_that_follow_it() {
        let (mark, why) = (Mark::default(), Why::from("it broke"));
        mark.fail(5, &why);
        mark.written_whole(7);
        mark.written_whole(9);
        assert!(
            !is_seen(&mark, 7, 8),
            "the launch at 8 reads what was written at 7, whatever is written later"
        );
        mark.fail(10, &why);
        assert!(is_seen(&mark, 0, 6), "a later failure does not hide an earlier one");
    }

    #[test]
    fn a_failure_that_is_told_after_a_whole_write_does_not_reach_behind_it() {
        let (mark, why) = (Mark::default(), Why::from("it broke"));
        mark.written_whole(8);
        mark.fail(5, &why);
        assert!(is_seen(&mark, 0, 6) && !is_seen(&mark, 8, 9) && mark.check().is_ok());
        mark.fail(8, &why);
        assert!(mark.check().is_err(), "the launch that should have written it all is the one that failed");
    }

    #[test]
    fn of_many_failures_none_is_forgotten() {
        let (mark, why) = (Mark::default(), Why::from("it broke"));
        for sequence in (10..1000).step_by(10) {
            mark.fail(sequence, &why);
            mark.written_whole(sequence + 5);
        }
        assert!(mark.check().is_ok());
        assert!((10..1000).step_by(10).all(|sequence| is_seen(&mark, sequence - 5, sequence + 1)));
        assert!(
            (500..1000).step_by(10).all(|sequence| !is_seen(&mark, sequence + 5, sequence + 6)),
            "the last ones are apart"
        );
    }
}
