//! The state of a storage's contents: the last recording that uses it, and the launches that failed to write it.
//!
//! One clock, the *sequence*, counts launches and writes of storages. A launch that fails leaves the part of the storage that
//! it should have written *missing*, until that is written again: as a whole or piece by piece. Reading a missing part is an
//! error.
//!
//! A launch or read is checked when it is recorded. Its operands can become missing later, when the failure of an earlier
//! launch is reported. So it is checked again before it is encoded, for the failures that were reported since. Such a reader
//! at sequence r is affected by a failure at f if the storage was last written as a whole at s, with s <= f < r.

use super::failures::{Failures, LeftContents, NewFailure, Reader, Reason};
use super::part::Part;
use crate::Error;
use crate::gpu::driver::lock::Lock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The number of failures that were reported so far.
static REPORTS: AtomicU64 = AtomicU64::new(0);

/// The number of failures that were reported so far. A check that begins after this call sees all of them.
pub(in crate::gpu) fn reports() -> u64 {
    REPORTS.load(Ordering::Acquire)
}

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
    failures: Lock<Failures>,
}

impl ContentState {
    /// The state of a new storage in a reused buffer. `last_use` is the last recording that used the buffer for an
    /// earlier owner.
    pub(in crate::gpu) fn of_reused_buffer(last_use: u64) -> Self {
        Self { last_use: last_use.into(), ..Self::default() }
    }

    /// Records that a recording uses the storage.
    pub(in crate::gpu) fn note_use(&self, recording: u64) {
        // NOTE: most uses are not the first of a recording, and a load costs less than an exchange.
        if self.last_use() < recording {
            self.last_use.fetch_max(recording, Ordering::Relaxed);
        }
    }

    /// Number of the last recording that uses the storage.
    pub(in crate::gpu) fn last_use(&self) -> u64 {
        self.last_use.load(Ordering::Relaxed)
    }

    /// Records that a launch writes to the storage.
    pub(in crate::gpu) fn note_write(&self, sequence: u64) {
        self.last_write.fetch_max(sequence, Ordering::Relaxed);
    }

    /// Sequence of the last launch that writes to the storage.
    pub(in crate::gpu) fn last_write(&self) -> u64 {
        self.last_write.load(Ordering::Relaxed)
    }

    /// Records a write of this part of the storage, of `len` bytes, that begins at this sequence and reads none of it. The
    /// part is then no longer missing.
    pub(in crate::gpu) fn note_overwrite(&self, part: &Part, len: u64, begun: u64) {
        if part.is_whole(len) {
            self.last_whole_write.fetch_max(begun, Ordering::Relaxed);
        } else if self.has_failures.load(Ordering::Acquire) {
            self.failures.lock().heal(part, begun, self.last_whole_write());
        }
    }

    /// Sequence of the last write of the whole storage.
    pub(in crate::gpu) fn last_whole_write(&self) -> u64 {
        self.last_whole_write.load(Ordering::Relaxed)
    }

    /// Records that the launch at `sequence` failed to write this part of the storage.
    pub(in crate::gpu) fn fail(&self, sequence: u64, part: &Part, why: &Reason) {
        self.add(NewFailure { sequence, part, left: LeftContents::Unknown, why });
    }

    /// Records that the launch at `sequence`, which should have written this part of the storage, will never run, nor any other
    /// of its operation.
    pub(in crate::gpu) fn never_ran(&self, sequence: u64, part: &Part, why: &Reason) {
        self.add(NewFailure { sequence, part, left: LeftContents::All, why });
    }

    fn add(&self, failure: NewFailure<'_>) {
        let mut failures = self.failures.lock();
        // NOTE: the order matters. A thread that sees the number either sees the failure or waits for the lock.
        self.has_failures.store(true, Ordering::Release);
        let number = REPORTS.fetch_add(1, Ordering::AcqRel) + 1;
        failures.add(failure, number, self.last_whole_write());
    }

    /// Makes the contents from before launches that never ran the contents of this part again.
    ///
    /// # Errors
    /// [`Error::Device`] if a launch has failed that may have written some of it.
    pub(in crate::gpu) fn revert(&self, part: &Part) -> Result<(), Error> {
        if !self.has_failures.load(Ordering::Acquire) {
            return Ok(());
        }
        let reverted = self.failures.lock().revert(part, self.last_whole_write());
        reverted.map_err(|why| Error::device(why.to_string()))
    }

    /// The failure that affects a reader of this part, among those that were reported after it was checked.
    pub(in crate::gpu) fn failure_before(&self, reader: Reader, part: &Part) -> Option<Reason> {
        if !self.has_failures.load(Ordering::Acquire) {
            return None;
        }
        self.failures.lock().before(reader, part)
    }

    /// Fails if some bytes of this part were never written, because a launch failed.
    pub(in crate::gpu) fn check(&self, part: &Part) -> Result<(), Error> {
        if !self.has_failures.load(Ordering::Acquire) {
            return Ok(());
        }
        match self.failures.lock().missing(part, self.last_whole_write()) {
            None => Ok(()),
            Some(why) => Err(Error::device(why.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: u64 = 100;

    /// Whether a read of the whole at `sequence` is affected, if it was checked before all failures.
    fn is_seen(contents: &ContentState, since: u64, sequence: u64) -> bool {
        contents.failure_before(Reader { sequence, reports: 0, since }, &Part::WHOLE).is_some()
    }

    fn is_there(contents: &ContentState, bytes: std::ops::Range<u64>) -> bool {
        contents.check(&Part::Bytes(bytes)).is_ok()
    }

    #[test]
    fn a_failure_stays_until_the_whole_storage_is_written() {
        let (contents, why) = (ContentState::default(), Reason::from("it broke"));
        assert!(!is_seen(&contents, 0, 7) && is_there(&contents, 0..LEN));
        contents.fail(5, &Part::WHOLE, &why);
        assert!(!is_seen(&contents, 0, 4) && !is_seen(&contents, 0, 5), "what came before it read good data");
        let error = contents.check(&Part::WHOLE).expect_err("it is missing").to_string();
        assert!(is_seen(&contents, 0, 6) && error.contains("it broke"), "{error}");
        contents.note_overwrite(&Part::WHOLE, LEN, 8);
        assert!(is_seen(&contents, 0, 7), "a launch between the failure and the write read nothing good");
        assert!(!is_seen(&contents, 8, 9) && is_there(&contents, 0..LEN));
        contents.fail(9, &Part::WHOLE, &why);
        assert!(!is_there(&contents, 0..LEN), "a later launch has failed");
    }

    #[test]
    fn a_failure_does_not_reach_past_the_writes_that_follow_it() {
        let (contents, why) = (ContentState::default(), Reason::from("it broke"));
        contents.fail(5, &Part::WHOLE, &why);
        contents.note_overwrite(&Part::WHOLE, LEN, 7);
        contents.note_overwrite(&Part::WHOLE, LEN, 9);
        assert!(
            !is_seen(&contents, 7, 8),
            "the launch at 8 reads what was written at 7, whatever is written later"
        );
        contents.fail(10, &Part::WHOLE, &why);
        assert!(is_seen(&contents, 0, 6), "a later failure does not hide an earlier one");
    }

    #[test]
    fn a_failure_that_is_reported_after_a_whole_write_does_not_reach_past_it() {
        let (contents, why) = (ContentState::default(), Reason::from("it broke"));
        contents.note_overwrite(&Part::WHOLE, LEN, 8);
        contents.fail(5, &Part::WHOLE, &why);
        assert!(is_seen(&contents, 0, 6) && !is_seen(&contents, 8, 9) && is_there(&contents, 0..LEN));
        contents.fail(8, &Part::WHOLE, &why);
        assert!(
            !is_there(&contents, 0..LEN),
            "the launch that should have written it all is the one that failed"
        );
    }

    #[test]
    fn no_failure_is_lost_if_there_are_many() {
        let (contents, why) = (ContentState::default(), Reason::from("it broke"));
        for sequence in (10..1000).step_by(10) {
            contents.fail(sequence, &Part::WHOLE, &why);
            contents.note_overwrite(&Part::WHOLE, LEN, sequence + 5);
        }
        assert!(is_there(&contents, 0..LEN));
        assert!((10..1000).step_by(10).all(|sequence| is_seen(&contents, sequence - 5, sequence + 1)));
        assert!(
            (500..1000).step_by(10).all(|sequence| !is_seen(&contents, sequence + 5, sequence + 6)),
            "the last ones are kept separately"
        );
    }

    #[test]
    fn only_the_part_that_was_not_written_is_missing() {
        let (contents, why) = (ContentState::default(), Reason::from("it broke"));
        contents.fail(5, &Part::Bytes(20..40), &why);
        assert!(is_there(&contents, 0..20) && is_there(&contents, 40..LEN) && !is_there(&contents, 39..41));
        contents.note_overwrite(&Part::Bytes(10..30), LEN, 7);
        assert!(is_there(&contents, 0..30) && !is_there(&contents, 30..31));
        contents.note_overwrite(&Part::Bytes(30..40), LEN, 5);
        assert!(!is_there(&contents, 30..31), "it is of the operation that has failed");
        contents.note_overwrite(&Part::Bytes(30..40), LEN, 8);
        assert!(is_there(&contents, 0..LEN));
        let reader = |reports| Reader { sequence: 9, reports, since: 0 };
        let seen = |reports| contents.failure_before(reader(reports), &Part::Bytes(25..26)).is_some();
        assert!(seen(0), "one that was recorded before the report, and not encoded");
        assert!(!seen(reports()), "one that was checked after it");
    }

    #[test]
    fn missing_parts_stay_missing_if_there_are_many() {
        let (contents, why) = (ContentState::default(), Reason::from("it broke"));
        for row in 0..500u64 {
            contents.fail(row + 1, &Part::Bytes(2 * row..2 * row + 1), &why);
        }
        assert!((0..500).all(|row| !is_there(&contents, 2 * row..2 * row + 1)));
        for row in 0..500u64 {
            contents.note_overwrite(&Part::Bytes(2 * row..2 * row + 2), 1000, 1000 + row);
            assert!(is_there(&contents, 0..2 * row + 2), "row {row}");
        }
        assert!(is_there(&contents, 0..1000));
    }
}
