//! The trait of everything that can be planned.

use super::executable::Plan;
use super::trial::Trial;
use crate::Result;
use crate::caps::Caps;
use std::fmt::Debug;
use std::hash::Hash;

/// What an operation computes: checked plain data. Its plan depends on this and on the device's [`Caps`], on nothing else.
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

    /// The plans with which the device can compute the problem. The first is the [`plan`](Self::plan), the others follow with the
    /// fastest predicted first. Each has a [signature](Plan::signature) of its own.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    fn candidates(&self, caps: &Caps) -> Result<Vec<Plan>> {
        self.plan(caps).map(|plan| vec![plan])
    }

    /// What a device needs to try the candidates. None if the family has one candidate only, or none that is simple enough to
    /// compare the others with.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    fn trial(&self, _: &Caps) -> Result<Option<Trial>> {
        Ok(None)
    }
}
