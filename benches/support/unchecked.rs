//! A device whose driver does not check accesses to buffers.
#![expect(unsafe_code, reason = "only unsafe code opens such a device")]

use tilewise::gpu::BufferAccess;
use tilewise::{Gpu, GpuOptions, Result};

/// Opens the device of the bench once more, without the checks.
pub fn open() -> Result<Gpu> {
    // SAFETY: a bench that opens this device runs only kernels of the library on it.
    let buffer_access = unsafe { BufferAccess::unchecked() };
    Gpu::open_with(GpuOptions { buffer_access, ..GpuOptions::from_env()? })
}
