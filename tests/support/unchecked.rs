//! Devices whose driver does not check accesses to buffers.
#![expect(unsafe_code, reason = "only unsafe code opens such a device")]

use tilewise::GpuOptions;
use tilewise::gpu::{BufferAccess, Checks};

/// Sets the option, and shaders without run-time checks, which it cannot be combined with.
pub fn unchecked(options: &mut GpuOptions) {
    options.checks = Checks::Trusted;
    // SAFETY: the tests run kernels of the library, which they also run with checks, and shaders of their own that stay
    // within their buffers.
    options.buffer_access = unsafe { BufferAccess::unchecked() };
}
