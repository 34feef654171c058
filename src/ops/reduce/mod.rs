//! Reductions: functions of many elements that have one result.

mod axes;
pub(crate) mod calls;
mod compute;
pub(crate) mod function;
pub(crate) mod functions;
mod kernel;
mod plan;
pub(crate) mod problem;
mod shares;
mod steps;
mod windows;

pub use axes::Axes;
pub(crate) use function::ReduceFunction;
pub(crate) use problem::ReduceProblem;
