//! Norms.

mod builders;
pub(crate) mod channels;
pub(crate) mod layouts;
pub(crate) mod rows;

pub use builders::{
    BatchNorm, BatchNormed, GroupNorm, InstanceNorm, LayerNorm, Normed, RmsNorm, RmsNormed, RunningStatistics,
};
