//! A position that a word on the device has: where a cache grows. The host knows it, too.
//!
//! Kernels read the word, so a captured step serves every position, and one of its launches advances the word. The host
//! counts along: it refuses a run for which there is no room, and says how much is filled. If the two may differ, because
//! the host has set its number or because work was not recorded as a whole, the word is written before its next use.

use super::lock::Lock;
use super::pooled_buffer::PooledBuffer;
use super::storage::Storage;
use crate::{Error, Result};
use std::sync::Arc;

/// How many positions are filled, on the device and on the host.
pub(crate) struct Cursor {
    /// One i32. It stays while a replay uses it.
    word: Arc<PooledBuffer>,
    capacity: usize,
    known: Lock<Known>,
}

/// What the host knows once everything has run that is recorded.
struct Known {
    len: usize,
    word: Word,
    claimed: Claimed,
}

/// Whether the word on the device has the host's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Holds,
    Behind,
}

/// Whether a thread is recording work that advances the position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claimed {
    No,
    Yes,
}

/// The right to record work that uses the position and advances it. Unless it is committed, the position stays as it was.
pub(crate) struct Claim<'a> {
    cursor: &'a Cursor,
    /// The positions before and after the work.
    before: usize,
    after: usize,
    outcome: Outcome,
}

/// Whether the work was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Open,
    Recorded,
}

impl Cursor {
    /// Of a word that contains 0.
    pub(super) fn of(word: Arc<PooledBuffer>, capacity: usize) -> Self {
        let known = Known { len: 0, word: Word::Holds, claimed: Claimed::No };
        Self { word, capacity, known: Lock::new(known) }
    }

    pub(super) fn storage(&self) -> &Arc<Storage> {
        self.word.storage()
    }

    /// The number of positions that are filled once everything has run that is recorded.
    pub(crate) fn len(&self) -> usize {
        self.known.lock().len
    }

    /// Sets the number of positions that are filled.
    pub(crate) fn set(&self, len: usize) {
        let mut known = self.known.lock();
        (known.len, known.word) = (len, Word::Behind);
    }

    /// Claims the position for work that advances it by `new`, and whether the word must be written before.
    ///
    /// # Errors
    /// [`Error::Input`] if there is no room for them, or another thread has claimed it.
    pub(super) fn claim(&self, op: &'static str, new: usize) -> Result<(Claim<'_>, Option<usize>)> {
        let mut known = self.known.lock();
        let (len, capacity) = (known.len, self.capacity);
        let wrong = |why: String| Err(Error::input(format!("{op}: the cache"), why));
        if known.claimed == Claimed::Yes {
            let why = "another thread is recording work that fills it: let one thread do so at a time";
            return wrong(why.to_owned());
        }
        if new > capacity.saturating_sub(len) {
            return wrong(format!(
                "it holds {len} of {capacity} positions and has no room for {new} more: `truncate` or `clear` it"
            ));
        }
        let behind = (known.word == Word::Behind).then_some(len);
        known.claimed = Claimed::Yes;
        Ok((Claim { cursor: self, before: len, after: len + new, outcome: Outcome::Open }, behind))
    }
}

impl Claim<'_> {
    /// The word has the host's number after what is recorded by now.
    pub(super) fn written(&self) {
        self.cursor.known.lock().word = Word::Holds;
    }

    /// The work is recorded.
    pub(crate) fn commit(mut self) {
        self.outcome = Outcome::Recorded;
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut known = self.cursor.known.lock();
        known.claimed = Claimed::No;
        match self.outcome {
            Outcome::Recorded => known.len = self.after,
            // A part of the work may have been recorded.
            Outcome::Open => (known.len, known.word) = (self.before, Word::Behind),
        }
    }
}

impl std::fmt::Debug for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {} positions", self.len(), self.capacity)
    }
}
