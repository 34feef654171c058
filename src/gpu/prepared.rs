//! A plan that is ready to run.

use super::lives::Lives;
use super::pipeline::Pipeline;
use crate::plan::Plan;
use std::sync::Arc;

/// A plan with its compiled kernels, ready to be executed any number of times.
pub(super) struct Prepared {
    pub(super) plan: Plan,
    /// The pipeline of each step.
    pub(super) pipelines: Vec<Arc<Pipeline>>,
    pub(super) lives: Lives,
}
