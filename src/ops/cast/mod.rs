//! Contiguous copies and casts.

mod call;
mod kernel;
mod plan;
pub(crate) mod problem;

pub(crate) use problem::CastProblem;
