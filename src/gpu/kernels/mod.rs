//! Compiled kernels and prepared plans, and their caches.

pub(super) mod known_pipelines;
pub(super) mod lifetimes;
pub(super) mod pipeline;
pub(super) mod pipelines;
pub(super) mod plan_cache;
pub(super) mod prepared;
pub(super) mod proofs;
pub(super) mod ring;
pub(super) mod stored_pipelines;
