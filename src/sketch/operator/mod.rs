//! Random operators as plain data: kinds, entries, and the layout of a tensor along the operator's axis.

mod applied;
pub(super) mod axis;
pub(super) mod direction;
mod entries;
mod kind;
pub(super) mod row_order;
mod sketch;
pub(super) mod sparse_lines;

pub use crate::layout::philox;
pub use direction::Direction;
pub use kind::{MAX_HADAMARD_LENGTH, MAX_NONZEROS, Scaling, SketchKind, SparseAxis};
pub use sketch::Sketch;

pub(super) use crate::layout::{normal_table, words};
pub(super) use applied::{Applied, SCALE};
pub(super) use sketch::OP;
