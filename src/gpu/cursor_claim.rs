//! Work that uses a cursor: recorded now, or captured, to be recorded by every run.

use super::cursor::{Claim, Cursor};
use super::handle::Gpu;
use super::scope::{Scope, Sink};
use super::view::View;
use super::write::SeenBy;
use crate::Result;
use crate::layout::Layout;
use std::sync::Arc;

/// Who fills a cache that counts its positions on the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filling {
    /// Work that is recorded now, or a capture that has made the cache, so that each run begins with it empty.
    Once,
    /// A capture. Every run would write to the same place, while the host has counted once.
    EveryRun,
}

impl Gpu {
    /// The cursor whose word this is, the only element of a tensor of i32 that contains 0.
    pub(crate) fn cursor(&self, word: &View<'_>, capacity: usize) -> Cursor {
        Cursor::of(word.pooled(), capacity)
    }

    /// Claims the position for work that is recorded now and advances it by `new`. What is recorded by now leaves the
    /// host's number in the word.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) if there is no room, another thread has claimed it, or the word is written by commands that an
    /// application has not submitted; [`Error::Device`](crate::Error::Device) if the device is lost.
    pub(crate) fn claim<'a>(&self, op: &'static str, cursor: &'a Cursor, new: usize) -> Result<Claim<'a>> {
        self.inner.status.check()?;
        let (claim, behind) = cursor.claim(op, new)?;
        if let Some(len) = behind {
            let layout = Layout::contiguous(op, &[1])?;
            let len = i32::try_from(len).unwrap_or(i32::MAX);
            self.write_staged(op, cursor.storage(), (&layout, SeenBy::Others), |to| to.write(0, &[len]))?;
            claim.written();
        }
        Ok(claim)
    }

    /// By how much the capture of the calling thread has advanced the position so far; None outside of a capture.
    pub(crate) fn captured_advance(&self, cursor: &Arc<Cursor>) -> Option<usize> {
        let mut state = self.inner.recorder.lock();
        let Some(Scope { sink: Sink::Capture(captured), .. }) = state.scope() else { return None };
        let known = captured.cursors.iter().find(|(known, _)| Arc::ptr_eq(known, cursor));
        Some(known.map_or(0, |(_, advance)| *advance))
    }

    /// Notes, in the closure of a `capture`, that its work uses the position and advances it by `new`.
    pub(crate) fn capture_advance(&self, cursor: &Arc<Cursor>, new: usize) {
        let mut state = self.inner.recorder.lock();
        if let Some(Scope { sink: Sink::Capture(captured), .. }) = state.scope() {
            match captured.cursors.iter_mut().find(|(known, _)| Arc::ptr_eq(known, cursor)) {
                Some((_, advance)) => *advance += new,
                None => captured.cursors.push((cursor.clone(), new)),
            }
        }
    }

    /// Who fills a cache in this buffer, if the calling thread does so now.
    pub(crate) fn filling(&self, buffer: &View<'_>) -> Filling {
        let mut state = self.inner.recorder.lock();
        let work = match state.scope() {
            Some(Scope { sink: Sink::Capture(_), work, .. }) => work.clone(),
            _ => return Filling::Once,
        };
        drop(state);
        let is_own = work.allocated().contains(&buffer.pooled().storage().buffer);
        if is_own { Filling::Once } else { Filling::EveryRun }
    }

    /// Lets the capture of the calling thread fail, because of a call that can return no error. Outside of a capture,
    /// nothing happens.
    pub(crate) fn refuse_in_capture(&self, call: &'static str, why: &str) {
        let mut state = self.inner.recorder.lock();
        if let Some(Scope { sink: Sink::Capture(captured), .. }) = state.scope() {
            captured.refused.get_or_insert_with(|| (call, why.to_owned()));
        }
    }
}
