//! Norms of rows: layer norm and RMS norm.

mod kernel;
mod plan;
pub(crate) mod problem;
