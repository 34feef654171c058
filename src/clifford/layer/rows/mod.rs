//! Functions of multivectors that combine the features of a row: products and norms that are normalised row by row.
//!
//! One shader runs all of them, `shaders/clifford/rows.wgsl`. The lanes of a workgroup share a row, and the code of
//! each lane is generated from the algebra's table of signs. A row that is too long for a workgroup takes two launches:
//! sums, then results.

mod call;
mod expressions;
mod kernel;
mod operands;
mod plan;
mod problem;
mod tile;
mod weighted_product;
mod write_gates;
mod write_norm;
mod write_results;
mod write_sums;
mod writer;

pub use problem::{RowDims, RowFunction, RowOperandLayouts, RowProblem, RowStep};
pub use tile::RowTile;
