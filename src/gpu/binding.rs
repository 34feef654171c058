//! A launch's binding of a tensor: a window of its buffer.

use super::bound_window::{BoundWindow, WindowUse};
use super::memory::Allocation;
use super::storage::Storage;
use crate::Result;
use crate::layout::window;
use std::ops::Range;

/// A window of a tensor's buffer, which a kernel binds.
#[derive(Clone)]
pub(crate) struct Binding<'a> {
    allocation: &'a Allocation,
    window: Range<u64>,
    /// For an operation that writes the whole storage and reads nothing of it: the sequence at which it begins.
    overwritten_from: Option<u64>,
}

impl<'a> Binding<'a> {
    /// The window of `allocation` that contains these bytes.
    pub(crate) fn new(allocation: &'a Allocation, bytes: Range<u64>) -> Self {
        Self { allocation, window: window(bytes), overwritten_from: None }
    }

    /// Marks the window as an output of an operation that begins at this sequence, writes the whole storage and reads
    /// nothing of it. Failures of earlier writes then no longer matter.
    pub(crate) fn overwritten_from(self, begun: u64) -> Self {
        Self { overwritten_from: Some(begun), ..self }
    }

    /// A part of the window, in bytes from the window's start.
    pub(super) fn part(&self, part: &Range<u64>) -> Self {
        let start = self.window.start;
        Self { window: start + part.start..start + part.end, ..self.clone() }
    }

    pub(super) fn storage(&self) -> &Storage {
        self.allocation.storage()
    }

    /// Fails if the contents were never computed, because a launch failed.
    pub(super) fn check(&self) -> Result<()> {
        if self.overwritten_from.is_some() { Ok(()) } else { self.allocation.check() }
    }

    pub(super) fn bound(&self, writes: bool) -> BoundWindow {
        let access = match (writes, self.overwritten_from) {
            (false, _) => WindowUse::Read,
            (true, None) => WindowUse::Write,
            (true, Some(begun)) => WindowUse::Overwrite { begun },
        };
        BoundWindow::new(self.allocation.storage().clone(), self.window.clone(), access)
    }
}
