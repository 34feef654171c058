//! The state of a storage: which recording used it last, and whether a launch that should have written it has failed.
//!
//! Launches, reads and writes of a whole storage are numbered by one counter, the *sequence*. A failure at sequence f is an
//! error for a reader at a later sequence r, unless the whole storage was written in between. So a result that was never
//! computed is an error each time it is read, until all of it is written again.

use super::lock::Lock;
use crate::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Why a launch failed; the text has the launch's name.
pub(super) type Why = Arc<str>;

/// The state of one storage, shared by its tensors and by the recordings that use it.
#[derive(Default)]
pub(crate) struct Mark {
    /// The last recording that uses the storage.
    used_by: AtomicU64,
    /// The sequence of the last write of the whole storage; 0 if there was none.
    whole: AtomicU64,
    /// The sequence of the last launch that failed to write it; 0 if there was none.
    failed: AtomicU64,
    why: Lock<Option<Why>>,
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

    /// Notes a write of the whole storage.
    pub(super) fn written_whole(&self, sequence: u64) {
        self.whole.fetch_max(sequence, Ordering::Relaxed);
    }

    /// The sequence of the last write of the whole storage.
    pub(super) fn last_whole_write(&self) -> u64 {
        self.whole.load(Ordering::Relaxed)
    }

    /// Notes that the launch at `sequence` failed to write the storage.
    pub(super) fn fail(&self, sequence: u64, why: &Why) {
        *self.why.lock() = Some(why.clone());
        self.failed.fetch_max(sequence, Ordering::Release);
    }

    /// Why a launch or read at `sequence` cannot use the storage; None if it can.
    pub(super) fn failure_at(&self, sequence: u64) -> Option<Why> {
        let failed = self.failed.load(Ordering::Acquire);
        let whole = self.whole.load(Ordering::Relaxed);
        let written_again = failed < whole && whole <= sequence;
        if failed == 0 || failed >= sequence || written_again {
            return None;
        }
        self.why.lock().clone()
    }

    /// Fails if the storage's present contents were never written, because a launch failed.
    pub(super) fn check(&self) -> Result<(), Error> {
        match self.failure_at(u64::MAX) {
            None => Ok(()),
            Some(why) => Err(Error::device(why.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_failed(mark: &Mark, sequence: u64) -> bool {
        mark.failure_at(sequence).is_some()
    }

    #[test]
    fn a_failure_stays_until_the_whole_storage_is_written() {
        let (mark, why) = (Mark::default(), Why::from("it broke"));
        assert!(!is_failed(&mark, 7) && mark.check().is_ok());
        mark.fail(5, &why);
        assert!(!is_failed(&mark, 4) && !is_failed(&mark, 5), "what came before it read good data");
        assert!(is_failed(&mark, 6) && is_failed(&mark, u64::MAX));
        assert!(mark.check().is_err_and(|error| error.to_string().contains("it broke")));
        mark.written_whole(8);
        assert!(is_failed(&mark, 7), "a launch between the failure and the write read nothing good");
        assert!(!is_failed(&mark, 9) && mark.check().is_ok());
        mark.fail(9, &why);
        assert!(mark.check().is_err(), "a later launch has failed");
    }

    #[test]
    fn a_failure_that_is_told_after_a_whole_write_does_not_reach_behind_it() {
        let (mark, why) = (Mark::default(), Why::from("it broke"));
        mark.written_whole(8);
        mark.fail(5, &why);
        assert!(is_failed(&mark, 6) && !is_failed(&mark, 8) && mark.check().is_ok());
        mark.fail(8, &why);
        assert!(mark.check().is_err(), "the launch that should have written it all is the one that failed");
    }
}
