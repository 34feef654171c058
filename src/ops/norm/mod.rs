//! Norms.

pub(crate) mod channels;
mod results;
pub(crate) mod rows;

pub use channels::{
    BatchNorm, BatchNormed, GroupNorm, InstanceNorm, RunningStatistics, batch_norm, batch_norm_backward,
    batch_norm_training, batch_norm_training_backward, group_norm, group_norm_backward,
    group_norm_with_statistics, instance_norm, instance_norm_backward, instance_norm_with_statistics,
};
pub use results::NormGradients;
pub use rows::{
    LayerNorm, Normed, RmsNorm, RmsNormed, layer_norm, layer_norm_backward, layer_norm_residual,
    layer_norm_with_statistics, rms_norm, rms_norm_backward, rms_norm_residual, rms_norm_with_statistics,
};
