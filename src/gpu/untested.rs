//! What an opened device keeps until its rows of cooperative matrices are tested.

use super::buffer_access::BufferAccess;
use super::inside::Inside;

/// How to test rows later: on another device of the same adapter. A test can break the device that it runs on, so it does not run on
/// that of the application.
///
/// A device is opened without tests, because most programs need no row, and compiling a test takes as long as compiling a kernel. A
/// row is tested when the first kernel that uses it is compiled, and all are when an application asks for the device's
/// capabilities.
#[cfg_attr(
    target_arch = "wasm32",
    allow(dead_code, reason = "in a browser all rows are tested when the device is opened")
)]
pub(super) struct Untested {
    pub(super) adapter: wgpu::Adapter,
    pub(super) access: BufferAccess,
    /// Threads that test now.
    pub(super) testing: Inside,
}

impl Untested {
    /// For a device that was opened from this adapter.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn new(adapter: wgpu::Adapter, access: BufferAccess) -> Self {
        Self { adapter, access, testing: Inside::default() }
    }
}
