//! Copies into views and between positions, concatenation and stacking.

mod at_position;
mod call;
mod kernel;
pub(in crate::ops) mod ordered;
mod plan;
pub(crate) mod problem;

pub(crate) use at_position::copy_filling;
pub use at_position::{copy_into_at, slice_at};
pub use call::{concat, copy_into, stack};
pub(in crate::ops) use ordered::copy_part;
