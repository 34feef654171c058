//! The results of tuning, in memory and in a file.

pub(super) mod tried;
pub(crate) mod tuning_file;
pub(super) mod tuning_memory;
#[cfg(not(target_arch = "wasm32"))]
pub(super) mod tuning_update;
