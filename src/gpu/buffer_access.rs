//! Whether the driver checks shaders' accesses to buffers: the option, and what becomes of it.

use super::options::{Checks, GpuOptions};
use crate::caps::RobustBufferAccess;
use crate::{Error, Result};

/// Whether the driver checks every access of a shader to a buffer. The default: it does.
///
/// wgpu opens every Vulkan device with `robustBufferAccess`, and with `robustBufferAccess2` where the driver has it. An
/// access outside of a buffer is then harmless. Some compilers pay for that: Mesa's compiler for NVIDIA's GPUs splits
/// wide accesses into single elements and checks each. The kernels of this crate need no such checks, and
/// [`unchecked`](Self::unchecked) opens a device without them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferAccess {
    /// Private: only `unsafe` code may set it.
    pub(super) is_unchecked: bool,
}

impl BufferAccess {
    /// The access of a device that is to be opened with these options.
    ///
    /// # Errors
    /// [`Error::Input`] if shaders are to be checked: where the driver checks accesses to buffers, wgpu's checked
    /// shaders leave those to it.
    pub(super) fn for_opening(options: &GpuOptions) -> Result<Self> {
        if options.buffer_access.is_unchecked && options.checks == Checks::Checked {
            return Err(Error::input(
                "Gpu::open: buffer_access",
                "`BufferAccess::unchecked` cannot be combined with `Checks::Checked` (TILEWISE_CHECKED=1), because \
                 checked shaders rely on the driver's checks of accesses to buffers; set only one of the two",
            ));
        }
        Ok(options.buffer_access)
    }

    /// Checks that the options to adopt a device leave this option alone.
    ///
    /// # Errors
    /// [`Error::Input`] if they do not: the device is open already.
    pub(super) fn check_for_adopting(options: &GpuOptions) -> Result<()> {
        if options.buffer_access.is_unchecked {
            return Err(Error::input(
                "Gpu::adopt: buffer_access",
                "`BufferAccess::unchecked` cannot change how the application has opened its device; it is an option of \
                 `Gpu::open_with`",
            ));
        }
        Ok(())
    }

    /// What a device that was opened so has on this API.
    pub(super) fn on(self, backend: wgpu::Backend) -> RobustBufferAccess {
        match (backend, self.is_unchecked) {
            (wgpu::Backend::Vulkan, false) => RobustBufferAccess::On,
            (wgpu::Backend::Vulkan, true) => RobustBufferAccess::Off,
            _ => RobustBufferAccess::Unknown,
        }
    }

    /// A suffix for the names of what is cached across runs. A device never takes over what was compiled or tested for
    /// the other kind.
    pub(super) fn suffix(self) -> &'static str {
        if self.is_unchecked { "-not-robust" } else { "" }
    }
}
