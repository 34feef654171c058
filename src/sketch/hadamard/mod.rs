//! Hadamard operators: some rows of $H_{N} D$, where D is a diagonal of random signs, by fast Walsh-Hadamard
//! transforms.

mod kernel;
mod passes;
mod plan;
mod problem;

pub use kernel::{HadamardDims, HadamardLayout, HadamardPass, HadamardSource, HadamardTarget, HadamardTile};
pub use problem::{HadamardPiece, HadamardProblem};
