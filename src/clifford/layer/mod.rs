//! Layers of networks whose features are multivectors: weighted products, and what stands between them.

mod calls;
mod connected;
mod descend;
mod features;
mod form;
mod gates;
mod gradients;
mod linear;
mod linear_backward;
mod module;
#[cfg(feature = "safetensors")]
mod module_file;
mod normalization;
mod normalized;
mod operands;
mod rows;
mod runs;
mod silu;
mod steerable;

pub use connected::{
    Connected, ConnectedBackDims, ConnectedBackProblem, ConnectedBackward, ConnectedForward,
    ConnectedProblem, Multiplied,
};
pub use features::{FeatureFunction, FeaturesDims, FeaturesProblem, Pass};
pub use form::{Gate, GradeNorm, LayerProduct};
pub use gates::{GatesDims, GatesProblem};
pub use gradients::ProductGradients;
pub use linear::{BiasOn, MvLinear};
pub use linear_backward::MvLinearGradients;
pub use module::{CliffordLayer, CliffordLayerBuilder, LayerGradients, ProductKind, Residual};
pub use normalization::{MvLayerNorm, MvNormalization};
pub use operands::LAYER_DIMENSION_AT_MOST;
pub use rows::{RowDims, RowFunction, RowLayouts, RowProblem, RowStep, RowTile};
pub use silu::{MvSilu, MvSiluGradients};
