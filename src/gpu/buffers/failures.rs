//! The failures to write a storage: the parts that are missing now, and the failures that concern readers under way.

use super::part::{Part, Runs, joined, overlap, without};
use std::sync::Arc;

/// Reason why a launch failed. The text contains the launch's name.
pub(in crate::gpu) type Reason = Arc<str>;

/// A launch or read that was recorded.
#[derive(Clone, Copy, Debug)]
pub(in crate::gpu) struct Reader {
    /// Its sequence.
    pub(in crate::gpu) sequence: u64,
    /// The failures that had been reported when it was checked.
    pub(in crate::gpu) reports: u64,
    /// Sequence of the last write of the whole storage before it.
    pub(in crate::gpu) since: u64,
}

/// Maximum number of missing parts, and of failures, that one storage keeps separately. Beyond it, the oldest are merged.
const MAX_SEPARATE: usize = 64;

/// Maximum number of ranges of bytes of merged parts. With more, all bytes from the first to the last count as missing.
const MAX_RUNS: usize = 1 << 16;

/// The contents of the part that a failed launch should have overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gpu) enum LeftContents {
    /// The contents from before: no launch of the operation has run.
    All,
    /// Nobody knows.
    Unknown,
}

/// A failed launch to add.
#[derive(Clone, Copy)]
pub(in crate::gpu) struct NewFailure<'a> {
    pub(in crate::gpu) sequence: u64,
    /// The part that it should have written.
    pub(in crate::gpu) part: &'a Part,
    pub(in crate::gpu) left: LeftContents,
    pub(in crate::gpu) why: &'a Reason,
}

#[derive(Default)]
pub(in crate::gpu) struct Failures {
    /// The parts that were not written and are still missing. Failures before the last write of the whole storage do not
    /// count.
    missing: Vec<Missing>,
    /// The reported failures, for readers that were checked before the report.
    reported: Vec<Reported>,
    /// Whether the contents after a failed launch were ever unknown.
    ///
    /// NOTE: from then on they always count as unknown. A later launch that should have written the same part may never have
    /// run, and the contents before it are then not the original ones.
    was_unknown: bool,
}

struct Missing {
    /// Sequence of the launch that failed.
    sequence: u64,
    /// The present contents.
    left: LeftContents,
    runs: Runs,
    /// The part that it should have written, if all of that is still missing.
    part: Option<Part>,
    why: Reason,
}

/// A failed launch, or several merged ones in this range of sequences.
struct Reported {
    first: u64,
    last: u64,
    part: Part,
    /// The number of the report.
    number: u64,
    why: Reason,
}

impl Failures {
    /// Adds a failure that is the `number`th report. `whole` is the sequence of the last write of the whole storage.
    pub(in crate::gpu) fn add(&mut self, failure: NewFailure<'_>, number: u64, whole: u64) {
        let NewFailure { sequence, part, left, why } = failure;
        if self.reported.len() == MAX_SEPARATE {
            let oldest = self.reported.remove(0);
            self.reported[0].merge(&oldest);
        }
        let (first, last) = (sequence, sequence);
        self.reported.push(Reported { first, last, part: part.clone(), number, why: why.clone() });
        self.missing.retain(|missing| missing.sequence >= whole);
        self.was_unknown |= left == LeftContents::Unknown;
        if sequence < whole {
            return;
        }
        if self.missing.len() == MAX_SEPARATE {
            let oldest = self.missing.remove(0);
            self.missing[0].merge(oldest);
        }
        let left = if self.was_unknown { LeftContents::Unknown } else { left };
        let (runs, part) = (part.runs_at_least(), Some(part.clone()));
        self.missing.push(Missing { sequence, left, runs, part, why: why.clone() });
    }

    /// A write of this part began at `begun`. Earlier failures no longer concern this part.
    pub(in crate::gpu) fn heal(&mut self, part: &Part, begun: u64, whole: u64) {
        self.missing.retain(|missing| missing.sequence >= whole);
        if self.missing.is_empty() {
            return;
        }
        let written = part.runs();
        self.missing.retain_mut(|missing| {
            if missing.sequence >= begun {
                return true;
            }
            if missing.part.as_ref() == Some(part) {
                return false;
            }
            if let Some(written) = &written
                && overlap(&missing.runs, written)
            {
                missing.runs = without(&missing.runs, written);
                missing.part = None;
            }
            !missing.runs.is_empty()
        });
    }

    /// Makes the previous contents the contents of this part again. If they are unknown for some bytes, nothing changes, and
    /// the reason is returned.
    pub(in crate::gpu) fn revert(&mut self, part: &Part, whole: u64) -> Result<(), Reason> {
        let runs = part.runs_at_least();
        let is_lost = |missing: &&Missing| {
            missing.sequence >= whole
                && missing.left == LeftContents::Unknown
                && overlap(&missing.runs, &runs)
        };
        if let Some(lost) = self.missing.iter().find(is_lost) {
            return Err(lost.why.clone());
        }
        self.heal(part, u64::MAX, whole);
        Ok(())
    }

    /// Why some bytes of this part are missing.
    pub(in crate::gpu) fn missing(&self, part: &Part, whole: u64) -> Option<Reason> {
        let mut missing = self.missing.iter().filter(|missing| missing.sequence >= whole).peekable();
        missing.peek()?;
        let runs = part.runs_at_least();
        missing.find(|missing| overlap(&missing.runs, &runs)).map(|missing| missing.why.clone())
    }

    /// The failure that affects a reader of this part, among those that were reported after it was checked.
    pub(in crate::gpu) fn before(&self, reader: Reader, part: &Part) -> Option<Reason> {
        let Reader { sequence, reports, since } = reader;
        let mut runs = None;
        let affects = |reported: &&Reported| {
            let in_time = reported.number > reports && since <= reported.last && reported.first < sequence;
            in_time && {
                let runs = runs.get_or_insert_with(|| part.runs_at_least());
                overlap(&reported.part.runs_at_least(), runs)
            }
        };
        self.reported.iter().find(affects).map(|reported| reported.why.clone())
    }
}

impl Missing {
    fn merge(&mut self, older: Self) {
        let mut runs = joined([older.runs, std::mem::take(&mut self.runs)].concat());
        if let (Some(first), Some(last)) = (runs.first(), runs.last())
            && runs.len() > MAX_RUNS
        {
            let all = first.start..last.end;
            runs.truncate(1);
            runs[0] = all;
        }
        (self.runs, self.part) = (runs, None);
        if older.left == LeftContents::Unknown {
            self.left = LeftContents::Unknown;
        }
        self.sequence = self.sequence.max(older.sequence);
    }
}

impl Reported {
    fn merge(&mut self, older: &Self) {
        self.first = self.first.min(older.first);
        self.last = self.last.max(older.last);
        self.number = self.number.max(older.number);
        self.part = self.part.with(&older.part);
    }
}
