//! Layers of networks whose features are multivectors: weighted products, and what stands between them.

mod descend;
mod form;
mod linear;
mod linear_backward;
mod operands;
mod runs;

pub use form::{Gate, GradeNorm, LayerProduct};
pub use linear::{BiasOn, MvLinear};
pub use linear_backward::MvLinearGradients;
pub use operands::LAYER_DIMENSION_AT_MOST;
