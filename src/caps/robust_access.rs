//! Whether a device's driver checks accesses to buffers.

use std::fmt;

/// Whether the driver checks every access of a shader to a buffer: Vulkan's feature `robustBufferAccess`, and
/// `robustBufferAccess2` where the driver has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RobustBufferAccess {
    /// It does. wgpu requests this on every Vulkan device that it opens.
    On,
    /// It does not: the device was opened with [`BufferAccess::unchecked`](crate::gpu::BufferAccess::unchecked), or an
    /// application created its Vulkan device without the feature.
    Off,
    /// Not known: an application opened the device through wgpu, or its API is not Vulkan.
    Unknown,
}

impl fmt::Display for RobustBufferAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::On => "on",
            Self::Off => "off",
            Self::Unknown => "unknown",
        })
    }
}
