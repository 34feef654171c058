//! Norms of rows: layer norm and RMS norm.

mod kernel;
mod layer;
mod plan;
pub(crate) mod problem;
mod rms;
mod run;

pub use layer::{
    LayerNorm, Normed, layer_norm, layer_norm_backward, layer_norm_residual, layer_norm_with_statistics,
};
pub use rms::{RmsNorm, RmsNormed, rms_norm, rms_norm_backward, rms_norm_residual, rms_norm_with_statistics};
