//! Copies into views and between positions, concatenation and stacking.

mod assign;
mod at_position;
mod call;
mod kernel;
mod ordered;
mod plan;
pub(crate) mod problem;
mod repeat;

pub(crate) use at_position::copy_filling;
pub use at_position::{copy_into_at, slice_at};
pub use call::{concat, copy_into, stack};
pub(in crate::ops) use ordered::copy_part;
pub use repeat::repeat;
