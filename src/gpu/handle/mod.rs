//! The handle of a device, and the buffers that keep it.

pub(super) mod gpu;
pub(super) mod memory;
pub(super) mod same_gpu;
pub(super) mod stats;
#[cfg(not(target_arch = "wasm32"))]
mod threads;
pub(super) mod untested;
