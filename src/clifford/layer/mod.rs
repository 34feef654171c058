//! Layers of networks whose features are multivectors: linear layers, weighted products, norms and activations.
//!
//! | to | call |
//! |---|---|
//! | map features linearly | [`MvLinear`] |
//! | multiply features by features | [`LayerProduct`], [`Connected`] |
//! | normalise, and activate | [`MvLayerNorm`], [`MvNormalization`], [`MvSilu`] |
//! | do all of a layer | [`CliffordLayer`] |

pub(crate) mod features;
mod gate;
mod gate_functions;
mod grade_norm;
mod layer_product;
pub(crate) mod linear;
pub(crate) mod module;
pub(crate) mod product;
mod row_tensors;
pub(crate) mod rows;

pub use features::{FeatureFunction, MvLayerNorm, MvNormalization, MvSilu};
pub use gate::Gate;
pub use grade_norm::GradeNorm;
pub use layer_product::{LayerProduct, ProductKind};
pub use linear::{BiasOn, MvLinear, MvLinearBuilder};
pub use module::{CliffordLayer, CliffordLayerBuilder, Residual};
pub use product::{Connected, ProductGradients};
pub use row_tensors::MAX_LAYER_DIMENSION;
