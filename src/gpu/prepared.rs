//! A plan with compiled kernels.

use super::lifetimes::Lifetimes;
use super::pipeline::Pipeline;
use crate::plan::Plan;
use std::sync::Weak;

/// A plan with its compiled kernels. It can be executed any number of times.
pub(super) struct Prepared {
    pub(super) plan: Plan,
    /// The pipeline of each step. Only those that are kept, and those in use, are still there.
    pub(super) pipelines: Vec<Weak<Pipeline>>,
    pub(super) lifetimes: Lifetimes,
}

impl Prepared {
    /// Whether all pipelines are there.
    pub(super) fn is_compiled(&self) -> bool {
        self.pipelines.iter().all(|pipeline| pipeline.strong_count() > 0)
    }
}
