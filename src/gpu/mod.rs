//! A device one computes on: opened or adopted, recorded to, read from, timed.

mod adapter;
mod adopt;
mod arrival;
mod binding;
pub(crate) mod cache_file;
mod constants;
pub(crate) mod execute;
mod fault;
mod handle;
mod launch;
mod lives;
mod lock;
mod mark;
mod memo;
mod memory;
mod open;
mod options;
mod pipeline;
mod poll;
mod pool;
mod pooled;
mod prepared;
mod progress;
mod raw;
mod read;
mod recorder;
mod recording;
mod ring;
mod same;
mod self_test;
mod staging;
mod stats;
mod storage;
mod submit;
mod timing;
mod turn;
mod turn_holder;
mod uploads;
pub(crate) mod verdicts;
mod verify;
mod view;
mod wait;
#[cfg(not(target_arch = "wasm32"))]
mod waiter;
mod watch;
mod watchers;

pub use crate::caps::{
    Assumptions, Caps, CapsLimits, CoopRow, CoopScalar, CoopScope, DeviceType, Machine, SubgroupSizes,
    Verdict,
};
pub use adopt::{AdoptOptions, Polling};
pub use handle::Gpu;
pub use options::{AdapterChoice, CacheFolder, Checks, GpuOptions, Submission};
pub use stats::Stats;
pub use timing::{Clock, Timing};
pub use view::View;

pub(crate) use memory::Allocation;
pub(crate) use same::check_same_gpu;
