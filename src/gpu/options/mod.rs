//! What an application chooses when it opens or adopts a device.

pub(super) mod buffer_access;
pub(super) mod gpu_options;
