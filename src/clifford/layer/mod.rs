//! Layers of networks whose features are multivectors: weighted products, and what stands between them.

mod form;
mod operands;

pub use form::{Gate, GradeNorm, LayerProduct};
pub use operands::LAYER_DIMENSION_AT_MOST;
