//! A launch's binding of a tensor: a window of its buffer.

use crate::Result;
use crate::gpu::buffers::bound_window::{BoundWindow, WindowUse};
use crate::gpu::buffers::part::Part;
use crate::gpu::buffers::storage::Storage;
use crate::gpu::handle::gpu::Allocation;
use std::ops::Range;
use std::sync::Arc;

/// A window of a tensor's buffer, which a kernel binds.
#[derive(Clone)]
pub(crate) struct Binding<'a> {
    allocation: &'a Allocation,
    window: Range<u64>,
    /// The elements.
    elements: Part,
    /// For an operation that writes all elements and reads none: the sequence at which it begins.
    overwritten_from: Option<u64>,
}

impl<'a> Binding<'a> {
    /// A window of `allocation` that contains these elements. `overwritten_from`: the sequence at which an operation begins
    /// that writes all of them and reads none. Failures of earlier writes then no longer matter.
    pub(in crate::gpu) fn new(
        allocation: &'a Allocation,
        window: Range<u64>,
        elements: Part,
        overwritten_from: Option<u64>,
    ) -> Self {
        Self { allocation, window, elements, overwritten_from }
    }

    /// A part of the window, in bytes from the window's start.
    pub(in crate::gpu) fn part(&self, part: &Range<u64>) -> Self {
        let start = self.window.start;
        Self { window: start + part.start..start + part.end, ..self.clone() }
    }

    pub(in crate::gpu) fn storage(&self) -> &Arc<Storage> {
        self.allocation.storage()
    }

    /// Fails if an element was never computed, because a launch failed. Positions that only a run determines are checked
    /// by the run.
    pub(in crate::gpu) fn check(&self) -> Result<()> {
        match (self.overwritten_from, &self.elements) {
            (Some(_), _) | (None, Part::Positions(_)) => Ok(()),
            (None, elements) => self.storage().contents.check(elements),
        }
    }

    pub(in crate::gpu) fn bound(&self, writes: bool) -> BoundWindow {
        let access = match (writes, self.overwritten_from) {
            (false, _) => WindowUse::Read,
            (true, None) => WindowUse::Write,
            (true, Some(begun)) => WindowUse::Overwrite { begun },
        };
        let storage = self.allocation.storage().clone();
        BoundWindow::of(storage, self.window.clone(), access, self.elements.clone())
    }
}
