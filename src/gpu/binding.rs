//! What a launch sees of a tensor: a window of its buffer.

use super::memory::Allocation;
use super::recording::{BoundWindow, Use};
use crate::Result;
use crate::layout::window;
use std::ops::Range;

/// A window of a tensor's buffer that a kernel sees.
#[derive(Clone)]
pub(crate) struct Binding<'a> {
    allocation: &'a Allocation,
    window: Range<u64>,
    /// Where the operation writes the whole storage and reads nothing of it: the sequence at which it begins.
    overwritten_from: Option<u64>,
}

impl<'a> Binding<'a> {
    /// The window that holds these bytes of `allocation`.
    pub(crate) fn new(allocation: &'a Allocation, bytes: Range<u64>) -> Self {
        Self { allocation, window: window(bytes), overwritten_from: None }
    }

    /// The same window, of an output whose whole storage the operation that begins at this sequence writes, and of which
    /// it reads nothing: what an earlier launch has failed to write there no longer matters.
    pub(crate) fn overwritten_from(self, begun: u64) -> Self {
        Self { overwritten_from: Some(begun), ..self }
    }

    /// A part of the window, in bytes from its start.
    pub(super) fn part(&self, part: &Range<u64>) -> Self {
        let start = self.window.start;
        Self { window: start + part.start..start + part.end, ..self.clone() }
    }

    /// Fails if the contents were never computed, because a launch failed.
    pub(super) fn check(&self) -> Result<()> {
        if self.overwritten_from.is_some() { Ok(()) } else { self.allocation.check() }
    }

    pub(super) fn bound(&self, writes: bool) -> BoundWindow {
        let access = match (writes, self.overwritten_from) {
            (false, _) => Use::Read,
            (true, None) => Use::Write,
            (true, Some(begun)) => Use::Overwrite { begun },
        };
        BoundWindow::new(self.allocation.storage().clone(), self.window.clone(), access)
    }
}
