//! A device one computes on: opened or adopted, recorded to, read from, timed.

mod adapter;
mod adopt;
mod adopt_check;
mod allocate;
mod binding;
mod bound_window;
mod buffer_access;
#[cfg(not(target_arch = "wasm32"))]
mod buffer_owner;
pub(crate) mod cache_file;
mod call_check;
mod capture;
mod captured;
mod compile;
mod completion;
mod constants;
#[cfg(not(target_arch = "wasm32"))]
mod contenders;
mod content_state;
mod counts;
mod cursor;
mod cursor_claim;
mod device;
mod device_status;
mod driver_times;
mod element_writer;
mod error_scope;
pub(crate) mod execute;
mod failures;
mod flush;
mod foreign_buffer;
mod handle;
mod input_mark;
mod inside;
mod instance;
mod known_buffers;
mod known_caps;
mod known_pipelines;
mod launch;
mod launch_plan;
mod lifetimes;
mod lock;
#[cfg(not(target_arch = "wasm32"))]
mod long_plan;
mod memory;
mod module_test;
mod new_launch;
mod open;
mod options;
mod outcome;
mod part;
mod pipeline;
mod pipelines;
mod plan_cache;
mod plan_capture;
mod plans_of;
mod poll;
mod pool;
mod pooled_buffer;
mod positions;
mod prepare;
mod prepared;
mod progress;
mod proof;
mod proofs;
mod raw;
mod read;
mod read_room;
mod reads;
mod receipt;
mod record_into;
mod recorder;
mod recording;
mod replay;
mod replay_bound;
mod replay_display;
mod replay_input;
mod replay_kept;
mod replay_launches;
mod replay_uses;
#[cfg(not(target_arch = "wasm32"))]
mod reported;
mod ring;
mod row_test;
mod row_tests;
mod run_input;
mod same_gpu;
mod scalar_test;
mod scope;
mod scope_check;
pub(crate) mod sealed_text;
mod self_test;
#[cfg(not(target_arch = "wasm32"))]
mod speed_test;
mod staged_write;
mod staging_ring;
mod staging_slot;
mod stats;
mod storage;
mod stored_pipelines;
mod submit;
mod submit_guard;
mod submit_turn;
mod suspended;
mod take_commands;
mod taken_check;
mod taken_encode;
mod taken_work;
mod tensor_pool;
mod test_modules;
mod texel_copy;
mod texture;
#[cfg(not(target_arch = "wasm32"))]
mod texture_owner;
mod timing;
#[cfg(test)]
mod trial_faults;
#[cfg(not(target_arch = "wasm32"))]
mod trial_operands;
#[cfg(not(target_arch = "wasm32"))]
mod trial_results;
#[cfg(not(target_arch = "wasm32"))]
mod trials;
#[cfg(not(target_arch = "wasm32"))]
mod tune;
mod tuned;
pub(crate) mod tuning_file;
mod tuning_memory;
#[cfg(not(target_arch = "wasm32"))]
mod tuning_update;
mod untested;
mod upload;
mod upload_count;
mod upload_room;
mod uploads;
mod verdicts;
mod verify;
mod view;
mod vouched;
mod vulkan;
mod wait;
#[cfg(not(target_arch = "wasm32"))]
mod waiter;
mod warm_up;
mod work;
mod write;

pub use crate::caps::{
    Assumptions, Caps, CapsLimits, CoopRow, CoopScalar, CoopScope, DeviceType, FlexibleLimits, Machine,
    MatrixExtensions, MatrixOrder, RateSource, RobustBufferAccess, RowSizes, RowSpeed, SubgroupSizes,
    Verdict,
};
pub use adopt::AdoptOptions;
pub use buffer_access::BufferAccess;
pub use driver_times::DriverTimes;
pub use element_writer::ElementWriter;
pub use handle::Gpu;
pub use options::{AdapterChoice, CacheFolder, Checks, GpuOptions, Polling, Submission, Tuning};
#[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
pub use raw::application::{VulkanAdapter, VulkanDevice, VulkanFeatureChain, VulkanFeatures};
pub use replay::Replay;
pub use stats::Stats;
pub use timing::{Clock, Timing};
pub use tuned::{Tried, TriedVerdict, Tuned};
pub use view::View;
pub use vouched::VouchedExtensions;

pub(crate) use cursor::{Claim, Cursor};
pub(crate) use cursor_claim::Filling;
pub(crate) use handle::Allocation;
pub(crate) use input_mark::InputMark;
pub(crate) use part::Part;
pub(crate) use same_gpu::check_same_gpu;
pub(crate) use texel_copy::{TexelCopy, TexelDirection};
pub(crate) use write::SeenBy;
