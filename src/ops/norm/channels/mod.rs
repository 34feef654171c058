//! Norms of channels: group norm, instance norm and batch norm.

mod batch;
mod group;
mod kernel;
mod operands;
mod plan;
pub(crate) mod problem;
mod run;
mod whole;
mod windows;

pub use batch::{
    BatchNorm, BatchNormed, RunningStatistics, batch_norm, batch_norm_backward, batch_norm_training,
    batch_norm_training_backward,
};
pub use group::{
    GroupNorm, InstanceNorm, group_norm, group_norm_backward, group_norm_with_statistics, instance_norm,
    instance_norm_backward, instance_norm_with_statistics,
};
