//! Work that uses a cursor: recorded now, or captured, to be recorded by every run.

use super::write::SeenBy;
use crate::Result;
use crate::gpu::buffers::cursor::{Claim, Cursor};
use crate::gpu::buffers::part::Part;
use crate::gpu::buffers::positions::Positions;
use crate::gpu::buffers::storage::Storage;
use crate::gpu::handle::gpu::Gpu;
use crate::gpu::record::scope::{Scope, Sink};
use crate::gpu::views::view::View;
use crate::layout::Layout;
use std::sync::Arc;

/// The kind of work that fills a cache that counts its positions on the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filling {
    /// Work that is recorded now, or a capture that has made the cache, so that each run begins with it empty.
    Once,
    /// A capture. Every run would write to the same place, while the host has counted once.
    EveryRun,
}

impl Gpu {
    /// A cursor whose word this is from now on, the only element of a new tensor of i32 that contains 0.
    pub(crate) fn cursor(&self, word: &View<'_>, capacity: usize) -> Arc<Cursor> {
        word.storage().cursor.get_or_init(|| Arc::new(Cursor::new(capacity))).clone()
    }

    /// Claims the position with this word for work that is recorded now and advances it by `new`. All work that is
    /// recorded by now leaves the host's number in the word.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) if there is no room, work is being recorded that has claimed it, or the word is written by
    /// commands that an application has not submitted; [`Error::Device`](crate::Error::Device) if the device is lost.
    pub(crate) fn claim(
        &self,
        op: &'static str,
        cursor: &Arc<Cursor>,
        word: &View<'_>,
        new: usize,
    ) -> Result<Claim> {
        self.claim_of(op, cursor, word.storage(), new)
    }

    /// As [`claim`](Self::claim).
    pub(in crate::gpu) fn claim_of(
        &self,
        op: &'static str,
        cursor: &Arc<Cursor>,
        word: &Arc<Storage>,
        new: usize,
    ) -> Result<Claim> {
        self.inner.status.check()?;
        let (claim, behind) = cursor.claim(op, new)?;
        if let Some(len) = behind {
            let layout = Layout::contiguous(op, &[1])?;
            let len = i32::try_from(len).unwrap_or(i32::MAX);
            self.write_staged(op, word, (&layout, SeenBy::Others), |to| to.write(0, &[len]))?;
            claim.written();
        }
        Ok(claim)
    }

    /// Before a storage is used: if it is the word of a cursor, which the host may have set, then all work that is
    /// recorded by now leaves the host's number there. In a capture, the runs do so.
    ///
    /// # Errors
    /// As [`claim`](Self::claim).
    pub(in crate::gpu) fn bring_word(&self, op: &'static str, storage: &Arc<Storage>) -> Result<()> {
        match storage.cursor.get() {
            Some(cursor) if cursor.is_behind() && !self.is_capturing() => {
                self.claim_of(op, cursor, storage, 0)?.commit();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The part of `whole` that attention reads or an append writes: the filled positions along `axis`. In a capture, each run
    /// determines it.
    pub(crate) fn filled_part(&self, cursor: &Arc<Cursor>, whole: &View<'_>, axis: usize) -> Part {
        let positions = Positions { cursor: cursor.clone(), layout: whole.layout, dtype: whole.dtype, axis };
        if self.is_capturing() {
            Part::Positions(Arc::new(positions))
        } else {
            Part::at(&positions, 0..cursor.filled().end)
        }
    }

    /// The number by which the capture of the calling thread has advanced the position so far; None outside of a
    /// capture.
    pub(crate) fn captured_advance(&self, cursor: &Arc<Cursor>) -> Option<usize> {
        self.inner.recorder.lock().captured().map(|captured| captured.advance(cursor))
    }

    /// Notes, in the closure of a `capture`, that its work advances the position by `new`.
    pub(crate) fn capture_advance(&self, cursor: &Arc<Cursor>, new: usize) {
        if let Some(captured) = self.inner.recorder.lock().captured() {
            captured.advances.push((cursor.clone(), new));
        }
    }

    /// The kind of work with which the calling thread would fill a cache in this buffer now.
    pub(crate) fn filling(&self, buffer: &View<'_>) -> Filling {
        let mut state = self.inner.recorder.lock();
        let work = match state.scope() {
            Some(Scope { sink: Sink::Capture(_), work, .. }) => work.clone(),
            _ => return Filling::Once,
        };
        drop(state);
        let is_own = work.allocated().contains(&buffer.storage().buffer);
        if is_own { Filling::Once } else { Filling::EveryRun }
    }

    /// Makes the capture of the calling thread fail, because of a call that cannot return an error. Outside of a
    /// capture, nothing happens.
    pub(crate) fn refuse_in_capture(&self, call: &'static str, why: &str) {
        if let Some(captured) = self.inner.recorder.lock().captured() {
            captured.refused.get_or_insert_with(|| (call, why.to_owned()));
        }
    }
}
