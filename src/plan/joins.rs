//! Steps that join windows: copies and sums. Rooms above supply them.

use super::draft::{Draft, Region};
use crate::{Error, Result};

/// Steps that operations of the rooms above supply.
#[derive(Clone, Copy)]
pub(crate) struct Joins {
    /// Copies one region to another of the same shape and type.
    pub(crate) copy: Option<Join>,
    /// Sums the first region, which is (rows, length), along the rows. The second is the result.
    pub(crate) sum: Option<Join>,
}

/// Adds steps between two regions.
pub(crate) type Join = fn(&mut Draft<'_>, Region, Region) -> Result<()>;

impl Joins {
    /// For an operation whose kernels take any view.
    pub(crate) const NONE: Self = Self { copy: None, sum: None };

    /// Adds the steps of a copy.
    ///
    /// # Errors
    /// Those of the step.
    pub(crate) fn copy(&self, draft: &mut Draft<'_>, from: Region, to: Region) -> Result<()> {
        self.copy.map_or_else(missing, |copy| copy(draft, from, to))
    }

    pub(crate) fn sum(&self, draft: &mut Draft<'_>, parts: Region, to: Region) -> Result<()> {
        self.sum.map_or_else(missing, |sum| sum(draft, parts, to))
    }
}

pub(super) fn missing() -> Result<()> {
    Err(Error::device("windows are to be joined, and the operation has no such step"))
}
