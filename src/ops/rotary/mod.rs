//! Rotary position embeddings: pairs of elements of each row, rotated by angles that grow with the position.

mod kernel;
pub(crate) mod pairs;
mod plan;
pub(crate) mod problem;
mod table;

pub use pairs::RotaryPairs;
pub use table::Rotary;
pub(crate) use table::Start;
