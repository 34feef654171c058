//! Layers of networks whose features are multivectors: weighted products, and what stands between them.

mod form;
mod gradients;
mod normalized;
mod operands;
mod rows;
mod steerable;

pub use form::{Gate, GradeNorm, LayerProduct};
pub use gradients::ProductGradients;
pub use operands::LAYER_DIMENSION_AT_MOST;
pub use rows::{RowDims, RowFunction, RowLayouts, RowProblem, RowStep, RowTile, plan_rows};
