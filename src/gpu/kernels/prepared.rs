//! A plan with compiled kernels.

use super::lifetimes::Lifetimes;
use super::pipeline::Pipeline;
use crate::plan::Plan;
use std::sync::Weak;

/// A plan with its compiled kernels. It can be executed any number of times.
pub(in crate::gpu) struct Prepared {
    pub(in crate::gpu) plan: Plan,
    /// The pipeline of each step. Only those that are kept, and those in use, are still there.
    pub(in crate::gpu) pipelines: Vec<Weak<Pipeline>>,
    pub(in crate::gpu) lifetimes: Lifetimes,
}

impl Prepared {
    /// Whether all pipelines are there.
    pub(in crate::gpu) fn is_compiled(&self) -> bool {
        self.pipelines.iter().all(|pipeline| pipeline.strong_count() > 0)
    }
}
