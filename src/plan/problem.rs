//! The trait of everything that can be planned.

use super::executable::Plan;
use crate::Result;
use crate::caps::Caps;
use std::hash::Hash;

/// What an operation computes: checked plain data. Its plan depends on this and on the device's [`Caps`], on nothing else.
pub trait Problem: Clone + Eq + Hash + Send + 'static {
    /// Decides how a device computes the problem.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if a size exceeds the device's limits;
    /// [`Error::Unsupported`](crate::Error::Unsupported) if the device lacks a feature that every candidate kernel needs.
    fn plan(&self, caps: &Caps) -> Result<Plan>;

    /// As [`plan`](Self::plan), and records why each faster candidate was passed over. Finding the reasons takes longer.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    fn explain(&self, caps: &Caps) -> Result<Plan> {
        self.plan(caps)
    }
}
