//! Allocates buffers, and moves data between the host, the device and an application.

pub(super) mod allocate;
#[cfg(not(target_arch = "wasm32"))]
pub(super) mod buffer_owner;
pub(super) mod cursor_claim;
pub(super) mod foreign_buffer;
pub(super) mod read;
pub(super) mod read_room;
pub(super) mod staged_write;
mod staging_room;
pub(super) mod texture;
#[cfg(not(target_arch = "wasm32"))]
pub(super) mod texture_owner;
pub(super) mod upload;
pub(super) mod upload_room;
pub(super) mod write;
