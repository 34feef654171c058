//! The host's side of a position that is stored in a word on the device: the end of a cache's filled part.
//!
//! Kernels read the word, so a captured step serves every position, and one of its launches advances the word. The host
//! counts the positions too: it refuses a run that would pass the capacity, and knows how many are filled. If the word
//! and the host's number may differ, because the host has set its number or because work was not recorded as a whole, the
//! word is written before its next use.

use crate::gpu::driver::lock::Lock;
use crate::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

/// Why only the cache writes the word.
pub(in crate::gpu) const IS_COUNTED: &str =
    "it is the position of a cache, which counts along: `truncate` or `clear` the cache, or write to a copy";

/// The number of filled positions. The storage of the word refers to it.
pub(crate) struct Cursor {
    capacity: usize,
    known: Lock<CursorState>,
}

/// The host's number, for the time when all recorded work has run.
struct CursorState {
    len: usize,
    word: WordState,
    claimed: Claimed,
}

/// Whether the word on the device has the host's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WordState {
    Holds,
    Behind,
}

/// Whether work is being recorded that uses the position and advances it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claimed {
    No,
    /// The positions after the work, and the number of them to keep that the host has set meanwhile.
    Until {
        after: usize,
        kept: Option<usize>,
    },
}

/// The right to record work that uses the position and advances it. Unless it is committed, the position does not change.
#[must_use = "the position is free again when it is dropped"]
pub(crate) struct Claim {
    cursor: Arc<Cursor>,
    /// The positions that the work fills.
    filled: Range<usize>,
    outcome: ClaimOutcome,
}

/// Whether the work was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClaimOutcome {
    Open,
    Recorded,
}

impl Cursor {
    /// Of a word that contains 0.
    pub(in crate::gpu) fn new(capacity: usize) -> Self {
        let known = CursorState { len: 0, word: WordState::Holds, claimed: Claimed::No };
        Self { capacity, known: Lock::new(known) }
    }

    /// The number of positions that are filled when all recorded work has run.
    pub(crate) fn len(&self) -> usize {
        let known = self.known.lock();
        known.claimed.kept(known.len)
    }

    /// The positions that are being filled by the work that has claimed the cursor.
    pub(crate) fn filled(&self) -> Range<usize> {
        let known = self.known.lock();
        match known.claimed {
            Claimed::No => known.len..known.len,
            Claimed::Until { after, .. } => known.len..after,
        }
    }

    /// Keeps the first positions only. If work that fills some is being recorded, this takes effect after it.
    pub(crate) fn truncate(&self, len: usize) {
        let mut known = self.known.lock();
        match &mut known.claimed {
            Claimed::Until { kept, .. } => *kept = Some(kept.map_or(len, |kept| kept.min(len))),
            Claimed::No => known.set(len),
        }
    }

    /// Whether the word must be written before its next use.
    pub(in crate::gpu) fn is_behind(&self) -> bool {
        self.known.lock().word == WordState::Behind
    }

    /// Whether work is being recorded that uses the position and advances it.
    pub(in crate::gpu) fn is_claimed(&self) -> bool {
        self.known.lock().claimed != Claimed::No
    }

    /// Claims the position for work that advances it by `new`, and whether the word must be written before.
    ///
    /// # Errors
    /// [`Error::Input`] if there is no room for them, or other work that is being recorded has claimed the position.
    pub(in crate::gpu) fn claim(
        self: &Arc<Self>,
        op: &'static str,
        new: usize,
    ) -> Result<(Claim, Option<usize>)> {
        let mut known = self.known.lock();
        let (len, capacity) = (known.len, self.capacity);
        let wrong = |why: String| Err(Error::input(format!("{op}: the cache"), why));
        if known.claimed != Claimed::No {
            let why = "another thread, or the call that this callback runs in, is recording work that fills it: let one \
                       thread do so at a time";
            return wrong(why.to_owned());
        }
        if new > capacity.saturating_sub(len) {
            return wrong(format!(
                "it holds {len} of {capacity} positions and has no room for {new} more: `truncate` or `clear` it"
            ));
        }
        let behind = (known.word == WordState::Behind).then_some(len);
        known.claimed = Claimed::Until { after: len + new, kept: None };
        Ok((Claim { cursor: self.clone(), filled: len..len + new, outcome: ClaimOutcome::Open }, behind))
    }
}

impl CursorState {
    /// Keeps the first positions only.
    fn set(&mut self, len: usize) {
        (self.len, self.word) = (self.len.min(len), WordState::Behind);
    }
}

impl Claimed {
    /// The smaller of this number of positions and the number to keep, if there is one.
    fn kept(self, len: usize) -> usize {
        match self {
            Self::Until { kept: Some(kept), .. } => len.min(kept),
            _ => len,
        }
    }
}

impl Claim {
    /// The positions that the work fills.
    pub(crate) fn filled(&self) -> Range<usize> {
        self.filled.clone()
    }

    /// Whether it is a claim of this position.
    pub(in crate::gpu) fn is_of(&self, cursor: &Arc<Cursor>) -> bool {
        Arc::ptr_eq(&self.cursor, cursor)
    }

    /// The word has the host's number after what is recorded by now.
    pub(in crate::gpu) fn written(&self) {
        self.cursor.known.lock().word = WordState::Holds;
    }

    /// The work is recorded.
    pub(crate) fn commit(mut self) {
        self.outcome = ClaimOutcome::Recorded;
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut known = self.cursor.known.lock();
        let claimed = std::mem::replace(&mut known.claimed, Claimed::No);
        match self.outcome {
            ClaimOutcome::Recorded => known.len = self.filled.end,
            // A part of the work may have been recorded.
            ClaimOutcome::Open => known.set(self.filled.start),
        }
        if let Claimed::Until { kept: Some(kept), .. } = claimed {
            known.set(kept);
        }
    }
}

impl std::fmt::Debug for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {} positions", self.len(), self.capacity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A position of this number of 10.
    fn at(len: usize) -> Arc<Cursor> {
        let cursor = Arc::new(Cursor::new(10));
        cursor.claim("test", len).unwrap().0.commit();
        cursor
    }

    /// What the next claim of no positions has to write.
    fn to_write(cursor: &Arc<Cursor>) -> Option<usize> {
        cursor.claim("test", 0).unwrap().1
    }

    #[test]
    fn a_claim_that_is_not_committed_leaves_the_number() {
        let cursor = at(3);
        assert_eq!((cursor.len(), to_write(&cursor)), (3, None));
        let cursor = at(3);
        let (claim, behind) = cursor.claim("test", 2).unwrap();
        assert_eq!((claim.filled(), behind, cursor.len(), cursor.filled()), (3..5, None, 3, 3..5));
        assert!(cursor.claim("test", 0).is_err(), "one at a time");
        drop(claim);
        assert_eq!(
            (cursor.len(), cursor.filled(), to_write(&cursor)),
            (3, 3..3, Some(3)),
            "some may be recorded"
        );
        assert!(cursor.claim("test", 8).is_err(), "there is room for 7");
    }

    #[test]
    fn a_number_that_is_set_during_a_claim_comes_after_it() {
        for (kept, want) in [(0, 0), (2, 2), (4, 4), (5, 5), (9, 5)] {
            let cursor = at(3);
            let claim = cursor.claim("test", 2).unwrap().0;
            cursor.truncate(kept);
            cursor.truncate(9);
            assert_eq!(cursor.len(), kept.min(3), "no position is counted that is not filled");
            claim.commit();
            assert_eq!((cursor.len(), to_write(&cursor)), (want, Some(want)), "cut to {kept}");
            let cursor = at(3);
            let claim = cursor.claim("test", 2).unwrap().0;
            cursor.truncate(kept);
            drop(claim);
            let want = kept.min(3);
            assert_eq!((cursor.len(), to_write(&cursor)), (want, Some(want)), "cut to {kept}, not recorded");
        }
    }
}
