//! Copies into views and between positions, concatenation and stacking.

mod call;
mod kernel;
pub(in crate::ops) mod ordered;
mod plan;
pub(crate) mod problem;

pub(crate) use call::copy_filling;

pub use call::{concat, copy_into, copy_into_at, slice_at, stack};
pub(in crate::ops) use ordered::copy_part;
