//! How this crate calls wgpu: locks, error scopes, polls, the loss of a device, and the time that calls take.

pub(super) mod completion;
pub(super) mod device_status;
pub(super) mod driver_times;
pub(super) mod error_scope;
pub(super) mod inside;
pub(super) mod instance;
pub(super) mod lock;
pub(super) mod poll;
pub(super) mod progress;
#[cfg(not(target_arch = "wasm32"))]
pub(super) mod waiter;
