//! A plan with compiled kernels.

use super::lifetimes::Lifetimes;
use super::pipeline::Pipeline;
use crate::plan::Plan;
use std::sync::Arc;

/// A plan with its compiled kernels. It can be executed any number of times.
pub(super) struct Prepared {
    pub(super) plan: Plan,
    /// The pipeline of each step.
    pub(super) pipelines: Vec<Arc<Pipeline>>,
    pub(super) lifetimes: Lifetimes,
}
