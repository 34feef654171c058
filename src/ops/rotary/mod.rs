//! Rotary position embeddings: pairs of elements of each row, rotated by angles that grow with the position.

mod call;
mod kernel;
pub(crate) mod pairs;
mod plan;
pub(crate) mod problem;

pub use call::Rotary;
pub(crate) use call::Start;
pub use pairs::RotaryPairs;
