//! A device to compute on: it is opened or adopted, records work, runs it, and returns results.
//!
//! | to | call |
//! |---|---|
//! | open a device | [`Gpu::open`], [`Gpu::open_with`], [`GpuOptions`], [`AdapterChoice`], [`CacheFolder`] |
//! | compute on an application's device | [`Gpu::adopt`], [`AdoptOptions`], [`Polling`], `Gpu::from_vulkan`, `VulkanAdapter`, `VulkanDevice`, `VulkanFeatures`, `VulkanFeatureChain`, `ash` |
//! | know what a device can do | [`Caps`], [`CapsLimits`], [`DeviceType`], [`SubgroupSizes`], [`RobustBufferAccess`] |
//! | know its cooperative matrices | [`CoopRow`], [`CoopScalar`], [`CoopScope`], [`RowSizes`], [`RowSpeed`], [`FlexibleLimits`], [`Verdict`] |
//! | know what predictions assume of it | [`Machine`], [`RateSource`], [`MatrixOrder`] |
//! | count and time | [`Gpu::stats`], [`Stats`], [`Gpu::time`], [`Timing`], [`DriverTimes`] |
//! | record once and run often | [`Gpu::capture`], [`Replay`] |
//! | choose plans by measurement | [`Gpu::tune`], [`Tuning`], [`Tuned`], [`Tried`], [`TriedVerdict`] |

mod application;
mod buffers;
mod cache;
mod device;
mod driver;
pub(crate) mod execute;
mod extensions;
mod handle;
mod kernels;
mod launch;
mod open;
mod options;
mod raw;
mod record;
mod replay;
mod rows;
mod submit;
mod transfer;
mod tuned;
#[cfg(not(target_arch = "wasm32"))]
mod tuning;
mod verify;
mod views;
#[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
mod vulkan;

pub use crate::caps::{
    Assumptions, Caps, CapsLimits, CoopRow, CoopScalar, CoopScope, DeviceType, FlexibleLimits, Machine,
    MatrixExtensions, MatrixOrder, RateSource, RobustBufferAccess, RowSizes, RowSpeed, SubgroupSizes,
    Verdict,
};
#[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
pub use ash;
pub use buffers::element_writer::ElementWriter;
pub use driver::driver_times::DriverTimes;
pub use extensions::vouched::VouchedExtensions;
pub use handle::gpu::Gpu;
pub use handle::stats::Stats;
pub use launch::timing::{Clock, Timing};
pub use open::adopt::AdoptOptions;
pub use options::buffer_access::BufferAccess;
pub use options::gpu_options::{AdapterChoice, CacheFolder, Checks, GpuOptions, Polling, Submission, Tuning};
pub use replay::runs::Replay;
pub use tuned::tried::{Tried, TriedVerdict, Tuned};
pub use views::view::View;
#[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
pub use vulkan::{VulkanAdapter, VulkanDevice, VulkanFeatureChain, VulkanFeatures};

pub(crate) use buffers::cursor::{Claim, Cursor};
pub(crate) use buffers::part::Part;
pub(crate) use cache::{cache_file, sealed_text};
pub(crate) use handle::gpu::Allocation;
pub(crate) use handle::same_gpu::check_same_gpu;
pub(crate) use record::input_mark::InputMark;
pub(crate) use record::texel_copy::{TexelCopy, TexelDirection};
pub(crate) use transfer::cursor_claim::Filling;
pub(crate) use transfer::write::SeenBy;
pub(crate) use tuned::tuning_file;
