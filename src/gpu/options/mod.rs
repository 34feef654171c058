//! The options with which an application opens or adopts a device.

pub(super) mod buffer_access;
pub(super) mod gpu_options;
