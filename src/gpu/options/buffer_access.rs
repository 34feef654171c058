//! Whether the driver checks shaders' accesses to buffers: the option, and its effect on a device.

use crate::caps::RobustBufferAccess;

/// Whether the driver checks every access of a shader to a buffer. The default: it does.
///
/// wgpu opens every Vulkan device with `robustBufferAccess`, and with `robustBufferAccess2` where the driver has it. An
/// access outside of a buffer is then harmless. With some compilers, kernels are slower with these checks: Mesa's
/// compiler for NVIDIA's GPUs splits wide accesses into single elements and checks each. The kernels of this crate need
/// no such checks, and [`unchecked`](Self::unchecked) opens a device without them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferAccess {
    /// Private: only `unsafe` code may set it.
    pub(in crate::gpu) is_unchecked: bool,
}

impl BufferAccess {
    /// The access of a device that was opened with this option on this API.
    pub(in crate::gpu) fn on(self, backend: wgpu::Backend) -> RobustBufferAccess {
        match (backend, self.is_unchecked) {
            (wgpu::Backend::Vulkan, false) => RobustBufferAccess::On,
            (wgpu::Backend::Vulkan, true) => RobustBufferAccess::Off,
            _ => RobustBufferAccess::Unknown,
        }
    }

    /// A suffix for the names of what is cached across runs. A device never uses files that were compiled or tested for
    /// the other kind.
    pub(in crate::gpu) fn suffix(self) -> &'static str {
        if self.is_unchecked { "-not-robust" } else { "" }
    }
}
