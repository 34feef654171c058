//! A launch's binding of a tensor: a window of its buffer.

use super::bound_window::{BoundWindow, WindowUse};
use super::memory::Allocation;
use super::part::Part;
use super::storage::Storage;
use crate::Result;
use crate::layout::{DType, Layout, window};
use std::ops::Range;

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
    /// The window of `allocation` that contains the elements of this layout. `overwritten_from`: the sequence at which an
    /// operation begins that writes all of them and reads none. Failures of earlier writes then no longer matter.
    pub(super) fn new(
        allocation: &'a Allocation,
        (layout, dtype): (&Layout, DType),
        overwritten_from: Option<u64>,
    ) -> Self {
        let elements = match overwritten_from {
            None => Part::of(layout, dtype),
            Some(_) => Part::exactly(layout, dtype),
        };
        Self { allocation, window: window(layout.bytes(dtype)), elements, overwritten_from }
    }

    /// A part of the window, in bytes from the window's start.
    pub(super) fn part(&self, part: &Range<u64>) -> Self {
        let start = self.window.start;
        Self { window: start + part.start..start + part.end, ..self.clone() }
    }

    pub(super) fn storage(&self) -> &Storage {
        self.allocation.storage()
    }

    /// Fails if an element was never computed, because a launch failed.
    pub(super) fn check(&self) -> Result<()> {
        match self.overwritten_from {
            Some(_) => Ok(()),
            None => self.storage().contents.check(&self.elements),
        }
    }

    pub(super) fn bound(&self, writes: bool) -> BoundWindow {
        let access = match (writes, self.overwritten_from) {
            (false, _) => WindowUse::Read,
            (true, None) => WindowUse::Write,
            (true, Some(begun)) => WindowUse::Overwrite { begun },
        };
        let storage = self.allocation.storage().clone();
        BoundWindow::of(storage, self.window.clone(), access, self.elements.clone())
    }
}
