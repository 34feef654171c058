//! Functions of multivectors in which the features of a row meet: products that are normalised row by row.
//!
//! One shader runs them all, `shaders/clifford_rows.wgsl`: its lanes hold a row together, and what they compute is text made
//! from the algebra's table. A row that is too long for a workgroup takes two launches, sums and then results.

mod gate_text;
mod launch;
mod norm_text;
mod operands;
mod plan;
mod problem;
mod products;
mod text;
mod tile;

pub(super) use launch::{Given, run};
pub use problem::{RowDims, RowFunction, RowLayouts, RowProblem, RowStep};
pub use tile::RowTile;
