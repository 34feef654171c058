//! The data that an opened device keeps until its rows of cooperative matrices are tested.

use crate::gpu::driver::inside::Inside;
use crate::gpu::options::buffer_access::BufferAccess;

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
pub(in crate::gpu) struct Untested {
    pub(in crate::gpu) adapter: wgpu::Adapter,
    pub(in crate::gpu) access: BufferAccess,
    /// Threads that test now.
    pub(in crate::gpu) testing: Inside,
}

impl Untested {
    /// For a device that was opened from this adapter.
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::gpu) fn new(adapter: wgpu::Adapter, access: BufferAccess) -> Self {
        Self { adapter, access, testing: Inside::default() }
    }
}
