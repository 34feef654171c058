//! Norms of channels: group norm, instance norm and batch norm.

mod chunks;
mod kernel;
mod operands;
mod plan;
pub(crate) mod problem;
mod whole;
mod windows;
