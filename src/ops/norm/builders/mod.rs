//! The norms as users call them: a builder each. The checks, the choice of a pass and the call of its plan are one for all.

mod batch;
mod group;
mod layer;
mod passes;
mod results;
mod rms;
mod run;
mod units;

pub use batch::{BatchNorm, BatchNormed, RunningStatistics};
pub use group::{GroupNorm, InstanceNorm};
pub use layer::LayerNorm;
pub use results::Normed;
pub use rms::{RmsNorm, RmsNormed};
