//! The trait of all problems that can be planned.

use super::executable::Plan;
use super::trial::Trial;
use crate::Result;
use crate::caps::Caps;
use std::fmt::Debug;
use std::hash::Hash;

/// A problem: the computation of an operation, as checked plain data. Its plan depends only on the problem and on the
/// device's [`Caps`].
pub trait Problem: Clone + Debug + Eq + Hash + Send + 'static {
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

    /// The plans with which the device can compute the problem. The first is the [`plan`](Self::plan); the others follow in the
    /// order of their predicted times. Each has a different [signature](Plan::signature).
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    fn candidates(&self, caps: &Caps) -> Result<Vec<Plan>> {
        self.plan(caps).map(|plan| vec![plan])
    }

    /// The operands, numbers and reference for trying the candidates. None if the family has only one candidate, or no
    /// candidate that is simple enough to serve as the reference.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    fn trial(&self, _: &Caps) -> Result<Option<Trial>> {
        Ok(None)
    }
}
