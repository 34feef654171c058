//! The problem of reductions: functions of many elements that have one result.

pub(in crate::ops) mod axes;
pub(crate) mod function;
mod kernel;
mod plan;
pub(crate) mod problem;
mod shares;
mod steps;
mod windows;

pub use axes::Axes;
pub(crate) use function::ReduceFunction;
pub(crate) use problem::ReduceProblem;
