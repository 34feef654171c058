//! Random operators as plain data: kinds, entries, and how an operator meets an axis of a tensor.

mod applied;
pub(super) mod axis;
pub(super) mod direction;
mod entries;
mod kind;
mod normal;
mod normal_table;
mod philox;
pub(super) mod row_order;
mod sketch;
pub(super) mod sparse_lines;

pub use direction::Direction;
pub use kind::{MAX_HADAMARD_LENGTH, MAX_NONZEROS, Scaling, SketchKind, SparseAxis};
pub use philox::philox;
pub use sketch::Sketch;

pub(super) use applied::{Applied, SCALE};
pub(super) use normal::table as normal_table;
pub(super) use philox::words;
pub(super) use sketch::OP;
