//! The application's buffers.
#![expect(unsafe_code, reason = "Vulkan is called without a library that checks the calls")]

use super::application::Application;
use super::program::checked;
use tilewise::gpu::ash::vk;
use tilewise::{Element, Error, Result};

/// A buffer with memory of its own, which its drop frees.
pub(crate) struct Buffer<'a> {
    application: &'a Application,
    pub(crate) handle: vk::Buffer,
    memory: vk::DeviceMemory,
    pub(crate) size: u64,
}

impl Application {
    /// A buffer of the device for a number of 32-bit words, rounded up to the 16 bytes that tensors need.
    pub(crate) fn storage(&self, words: usize) -> Result<Buffer<'_>> {
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::TRANSFER_SRC;
        self.buffer((words as u64 * 4).next_multiple_of(16), usage, vk::MemoryPropertyFlags::DEVICE_LOCAL)
    }

    /// A buffer that the host reads.
    pub(crate) fn host_visible(&self, bytes: usize) -> Result<Buffer<'_>> {
        let of_host = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        self.buffer(bytes as u64, vk::BufferUsageFlags::TRANSFER_DST, of_host)
    }

    fn buffer(
        &self,
        size: u64,
        usage: vk::BufferUsageFlags,
        properties: vk::MemoryPropertyFlags,
    ) -> Result<Buffer<'_>> {
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: the device is alive, and the memory has the size and a type that the buffer asks for.
        unsafe {
            let handle = checked("a buffer", self.device.create_buffer(&info, None))?;
            let needed = self.device.get_buffer_memory_requirements(handle);
            let is_right = |(at, memory): &(u32, &vk::MemoryType)| {
                needed.memory_type_bits & (1 << at) != 0 && memory.property_flags.contains(properties)
            };
            let (kind, _) = (0..)
                .zip(self.memory.memory_types_as_slice())
                .find(is_right)
                .ok_or_else(|| Error::Device("no memory of the right type".into()))?;
            let info = vk::MemoryAllocateInfo::default().allocation_size(needed.size).memory_type_index(kind);
            let memory = checked("memory", self.device.allocate_memory(&info, None))?;
            checked("binding", self.device.bind_buffer_memory(handle, memory, 0))?;
            Ok(Buffer { application: self, handle, memory, size })
        }
    }
}

impl Buffer<'_> {
    /// The first elements of a buffer that the host reads.
    pub(crate) fn read<T: Element>(&self, len: usize) -> Vec<T> {
        let device = &self.application.device;
        // SAFETY: the memory is visible to the host and nothing on the device writes to it now. Memory is mapped at a multiple of
        // every element's size, and any bits are an element.
        unsafe {
            let flags = vk::MemoryMapFlags::empty();
            let Ok(at) = device.map_memory(self.memory, 0, vk::WHOLE_SIZE, flags) else { return Vec::new() };
            let values = std::slice::from_raw_parts(at.cast::<T>(), len).to_vec();
            device.unmap_memory(self.memory);
            values
        }
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // SAFETY: the application has waited for its work, and Tilewise has dropped the tensors on the buffer.
        unsafe {
            self.application.device.destroy_buffer(self.handle, None);
            self.application.device.free_memory(self.memory, None);
        }
    }
}
