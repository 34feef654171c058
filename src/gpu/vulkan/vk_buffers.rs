//! Buffers of an application's own Vulkan device, in both directions.

use crate::gpu::driver::error_scope::{device_error, in_error_scope};
use crate::gpu::handle::gpu::Gpu;
use crate::gpu::transfer::buffer_owner::check_usable;
use crate::{Error, Result};
use ash::vk::{self, Handle};
use wgpu::hal::vulkan::{Api, Buffer};

impl Gpu {
    /// An application's own buffer as one of wgpu, without a copy. The application still owns it: neither this crate nor wgpu
    /// destroys it or frees its memory. [`Tensor::from_buffer`](crate::Tensor::from_buffer) makes a tensor of the result.
    ///
    /// `usages` are the operations that wgpu may do with the buffer: `STORAGE` for a tensor, and `COPY_SRC` to read it. wgpu
    /// cannot map it.
    ///
    /// # Order
    /// wgpu does not know what the application did with the buffer before. So the application puts a barrier at the end of its
    /// work on this queue, from its own accesses to `VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT` in
    /// `VK_PIPELINE_STAGE_ALL_COMMANDS_BIT`, and one from there at the beginning of its next work. Across queues it uses a
    /// semaphore: [`wait_for_semaphore`](Self::wait_for_semaphore).
    ///
    /// # Safety
    /// - The buffer was created on the device of this `Gpu`, which is one of [`Gpu::from_vulkan`] or a Vulkan device of wgpu's,
    ///   and is bound to memory. It has `size` bytes or more, and their contents were
    ///   written at least once.
    /// - It was created with the usages of Vulkan that `usages` stands for; with `INDIRECT` or `QUERY_RESOLVE` also with
    ///   `VK_BUFFER_USAGE_STORAGE_BUFFER_BIT`, because wgpu checks such contents in a shader.
    /// - If queues of several families use it, it was created with `VK_SHARING_MODE_CONCURRENT` and names them all; wgpu
    ///   transfers no ownership.
    /// - It is not destroyed, and its memory is not freed or bound to anything that is written, while the result, a clone of it,
    ///   a tensor on it, or work that uses any of them exists.
    /// - The application orders its own accesses as above.
    /// - No other result of this call for the same buffer, nor a tensor on one, is used at the same time: wgpu and this crate
    ///   take them for two buffers, and order nothing between them. Wrap a buffer once and clone the result. If it is wrapped
    ///   again, the application orders the work on the earlier result before that, like its own accesses.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if this device is not one of Vulkan; [`Error::Input`] for a null handle, no usages, usages that
    /// map, or a size that is 0 or not a multiple of 4; [`Error::Limit`] if the size exceeds the largest buffer of this
    /// device; [`Error::Device`] if the device is lost.
    pub unsafe fn wrap_vk_buffer(
        &self,
        buffer: vk::Buffer,
        size: u64,
        usages: wgpu::BufferUsages,
    ) -> Result<wgpu::Buffer> {
        const OP: &str = "wrap_vk_buffer";
        self.check_vulkan(OP)?;
        self.inner.status.check()?;
        let input = |what: &str, why: String| Err(Error::input(format!("{OP}: {what}"), why));
        if buffer.is_null() {
            return input("buffer", "it is VK_NULL_HANDLE".into());
        }
        if size == 0 || !size.is_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT) {
            return input("size", format!("it is {size}; a size is a multiple of 4 bytes above 0"));
        }
        let map = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::MAP_WRITE;
        if usages.is_empty() || usages.intersects(map) {
            let remedy = "ask for STORAGE, COPY_SRC and COPY_DST, as far as the buffer was created with them";
            return input("usages", format!("they are {usages:?}, but wgpu cannot map the buffer; {remedy}"));
        }
        let allowed = self.known_caps().limits.buffer_bytes;
        Error::check_limit(OP, "the size of the buffer in bytes", size, allowed)?;
        let desc = wgpu::BufferDescriptor {
            label: Some("an application's VkBuffer"),
            size,
            usage: usages,
            mapped_at_creation: false,
        };
        let device = self.device();
        // SAFETY: the caller guarantees the buffer's device, size, usages, contents and lifetime. The callback has nothing to
        // do; with it, wgpu does not destroy the buffer.
        in_error_scope(device, || unsafe {
            let buffer = Buffer::from_raw_externally_owned(buffer, Box::new(|| ()));
            device.create_buffer_from_hal::<Api>(buffer, &desc)
        })
        .map_err(device_error)
    }

    /// The Vulkan buffer of one of wgpu's, such as that of a tensor ([`Tensor::buffer`](crate::Tensor::buffer)), for the
    /// application's own commands. Submit what is recorded first ([`flush`](Self::flush)), and order the accesses as
    /// [`wrap_vk_buffer`](Self::wrap_vk_buffer) says. The handle is valid while `buffer` or a clone of it exists; never
    /// destroy it.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if this device is not one of Vulkan; [`Error::Gpu`] if the buffer belongs to another device, as
    /// far as a buffer with `STORAGE` shows; [`Error::Input`] if it was destroyed, is mapped or belongs to a device of
    /// another API; [`Error::Device`] if the device is lost.
    pub fn vk_buffer(&self, buffer: &wgpu::Buffer) -> Result<vk::Buffer> {
        const OP: &str = "vk_buffer";
        self.check_vulkan(OP)?;
        self.inner.status.check()?;
        let usage = buffer.usage();
        let map = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::MAP_WRITE;
        // A binding of 16 bytes shows whose it is.
        if usage.contains(wgpu::BufferUsages::STORAGE) && !usage.intersects(map) && buffer.size() >= 16 {
            check_usable(OP, self, buffer)?;
        }
        // SAFETY: the handle is only read, while the guard keeps the buffer.
        let handle = unsafe { buffer.as_hal::<Api>().map(|buffer| buffer.raw_handle()) };
        handle
            .ok_or_else(|| Error::input(format!("{OP}: buffer"), "it was destroyed, or is not one of Vulkan"))
    }

    /// Checks that wgpu drives this device through Vulkan.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if it does not.
    pub(super) fn check_vulkan(&self, op: &'static str) -> Result<()> {
        // SAFETY: the guard is dropped at once.
        if unsafe { self.device().as_hal::<Api>() }.is_some() {
            return Ok(());
        }
        let caps = self.known_caps();
        let device = format!("{} ({})", caps.adapter, caps.backend);
        Err(Error::Unsupported { op, needs: "a device of Vulkan".into(), device })
    }
}
