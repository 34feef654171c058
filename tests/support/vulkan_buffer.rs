//! Buffers, commands and semaphores of a Vulkan application.
#![expect(unsafe_code, reason = "Vulkan is called without a library that checks the calls")]

use super::vulkan::Application;
use std::sync::PoisonError;
use tilewise::gpu::ash::vk;
use tilewise::{Element, Gpu, Result, wgpu};

/// A buffer that the host sees, with memory of its own. Its drop destroys both.
pub struct AppBuffer<'a> {
    application: &'a Application,
    pub handle: vk::Buffer,
    memory: vk::DeviceMemory,
    pub size: u64,
}

impl Application {
    /// A buffer with this contents, for storage and copies.
    pub fn buffer_of<T: Element>(&self, values: &[T]) -> AppBuffer<'_> {
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        let bytes: &[u8] = bytemuck::cast_slice(values);
        let size = (bytes.len() as u64).next_multiple_of(16);
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        let of_host = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        // SAFETY: the memory has the size and a type that the buffer asks for.
        unsafe {
            let handle = self.device.create_buffer(&info, None).expect("a buffer");
            let needed = self.device.get_buffer_memory_requirements(handle);
            let types = self.instance.get_physical_device_memory_properties(self.physical_device);
            let is_right = |&(at, memory): &(u32, &vk::MemoryType)| {
                needed.memory_type_bits & (1 << at) != 0 && memory.property_flags.contains(of_host)
            };
            let (kind, _) =
                (0..).zip(types.memory_types_as_slice()).find(is_right).expect("a type of memory");
            let info = vk::MemoryAllocateInfo::default().allocation_size(needed.size).memory_type_index(kind);
            let memory = self.device.allocate_memory(&info, None).expect("memory");
            self.device.bind_buffer_memory(handle, memory, 0).expect("the buffer is bound");
            let buffer = AppBuffer { application: self, handle, memory, size };
            buffer.mapped(|at| at.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()));
            buffer
        }
    }

    /// Submits commands, with semaphores to wait on and to signal. Does not wait.
    pub fn submit(
        &self,
        wait: Option<(vk::Semaphore, u64)>,
        signal: Option<(vk::Semaphore, u64)>,
        record: impl FnOnce(&Self, vk::CommandBuffer),
    ) {
        // SAFETY: the objects are this device's. They are destroyed with the application, when the queue is idle.
        unsafe {
            let info = vk::CommandPoolCreateInfo::default().queue_family_index(self.family);
            let pool = self.device.create_command_pool(&info, None).expect("a pool");
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = self.device.allocate_command_buffers(&info).expect("a command buffer");
            let begin = vk::CommandBufferBeginInfo::default();
            self.device.begin_command_buffer(commands[0], &begin).expect("it records");
            record(self, commands[0]);
            self.device.end_command_buffer(commands[0]).expect("it is recorded");
            let split = |pair: Option<(vk::Semaphore, u64)>| {
                (Vec::from_iter(pair.map(|p| p.0)), Vec::from_iter(pair.map(|p| p.1)))
            };
            let ((waits, wait_values), (signals, signal_values)) = (split(wait), split(signal));
            let stages = vec![vk::PipelineStageFlags::ALL_COMMANDS; waits.len()];
            let mut timeline = vk::TimelineSemaphoreSubmitInfo::default()
                .wait_semaphore_values(&wait_values)
                .signal_semaphore_values(&signal_values);
            let mut work = vk::SubmitInfo::default()
                .command_buffers(&commands)
                .wait_semaphores(&waits)
                .wait_dst_stage_mask(&stages)
                .signal_semaphores(&signals);
            if wait.is_some() || signal.is_some() {
                work = work.push_next(&mut timeline);
            }
            self.device.queue_submit(self.queue, &[work], vk::Fence::null()).expect("it is submitted");
            self.pools.lock().unwrap_or_else(PoisonError::into_inner).push(pool);
        }
    }

    /// Records a barrier between all that was written and all that comes after.
    pub fn barrier(&self, commands: vk::CommandBuffer) {
        let all = vk::PipelineStageFlags::ALL_COMMANDS | vk::PipelineStageFlags::HOST;
        let access = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
        let barrier = [vk::MemoryBarrier::default().src_access_mask(access).dst_access_mask(access)];
        let flags = vk::DependencyFlags::empty();
        // SAFETY: the command buffer is being recorded.
        unsafe { self.device.cmd_pipeline_barrier(commands, all, all, flags, &barrier, &[], &[]) }
    }

    /// Records a copy of one whole buffer to another.
    pub fn copy(&self, commands: vk::CommandBuffer, from: vk::Buffer, to: &AppBuffer<'_>) {
        let region = [vk::BufferCopy::default().size(to.size)];
        // SAFETY: the command buffer is being recorded, and both buffers have this size.
        unsafe { self.device.cmd_copy_buffer(commands, from, to.handle, &region) }
    }

    /// Records that every word of a buffer becomes this one.
    pub fn fill(&self, commands: vk::CommandBuffer, buffer: &AppBuffer<'_>, word: u32) {
        // SAFETY: the command buffer is being recorded.
        unsafe { self.device.cmd_fill_buffer(commands, buffer.handle, 0, vk::WHOLE_SIZE, word) }
    }

    /// A timeline semaphore at 0. The test destroys it.
    pub fn timeline(&self) -> vk::Semaphore {
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: the device has timeline semaphores.
        unsafe { self.device.create_semaphore(&info, None).expect("a semaphore") }
    }

    /// Destroys a semaphore when the queue is idle.
    pub fn destroy(&self, semaphore: vk::Semaphore) {
        self.wait();
        // SAFETY: nothing uses it any more.
        unsafe { self.device.destroy_semaphore(semaphore, None) }
    }

    /// Signals a semaphore from the host.
    pub fn signal(&self, semaphore: vk::Semaphore, value: u64) {
        let info = vk::SemaphoreSignalInfo::default().semaphore(semaphore).value(value);
        // SAFETY: the value is above the semaphore's.
        unsafe { self.device.signal_semaphore(&info).expect("it is signalled") }
    }

    /// Waits on the host, up to ten seconds. Whether the value was reached.
    pub fn wait_on_host(&self, semaphore: vk::Semaphore, value: u64) -> bool {
        let (semaphores, values) = ([semaphore], [value]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        // SAFETY: the semaphore is this device's. Waiting does not use the queue.
        unsafe { self.device.wait_semaphores(&info, 10_000_000_000).is_ok() }
    }
}

impl AppBuffer<'_> {
    /// The buffer as one of wgpu.
    pub fn wrapped(&self, gpu: &Gpu, usages: wgpu::BufferUsages) -> Result<wgpu::Buffer> {
        self.wrapped_as(gpu, self.handle, self.size, usages)
    }

    /// As [`wrapped`](Self::wrapped), with a wrong handle, size or usages that are errors.
    pub fn wrapped_as(
        &self,
        gpu: &Gpu,
        handle: vk::Buffer,
        size: u64,
        usages: wgpu::BufferUsages,
    ) -> Result<wgpu::Buffer> {
        // SAFETY: the buffer is this device's, has these usages and contents, and outlives what is on it in every test.
        unsafe { gpu.wrap_vk_buffer(handle, size, usages) }
    }

    /// The first elements as the host sees them.
    pub fn read<T: Element>(&self, len: usize) -> Vec<T> {
        assert!(len * size_of::<T>() <= usize::try_from(self.size).expect("it fits"));
        // SAFETY: the buffer has this many elements, at a place that is aligned for each type.
        self.mapped(|at| unsafe { std::slice::from_raw_parts(at.cast::<T>(), len).to_vec() })
    }

    fn mapped<R>(&self, with: impl FnOnce(*mut u8) -> R) -> R {
        let device = &self.application.device;
        // SAFETY: the memory is visible to the host, and nothing on the device uses it now.
        unsafe {
            let flags = vk::MemoryMapFlags::empty();
            let at = device.map_memory(self.memory, 0, vk::WHOLE_SIZE, flags).expect("it is mapped");
            let result = with(at.cast());
            device.unmap_memory(self.memory);
            result
        }
    }
}

impl Drop for AppBuffer<'_> {
    fn drop(&mut self) {
        self.application.wait();
        // SAFETY: nothing uses them any more.
        unsafe {
            self.application.device.destroy_buffer(self.handle, None);
            self.application.device.free_memory(self.memory, None);
        }
    }
}

/// Makes the next submission wait for a semaphore.
pub fn wait_for(gpu: &Gpu, semaphore: vk::Semaphore, value: u64) -> Result<()> {
    // SAFETY: the tests destroy semaphores when the queue is idle, and signal each value once.
    unsafe { gpu.wait_for_semaphore(semaphore, value) }
}

/// Makes the next submission signal a semaphore.
pub fn signal_by(gpu: &Gpu, semaphore: vk::Semaphore, value: u64) -> Result<()> {
    // SAFETY: as above.
    unsafe { gpu.signal_semaphore(semaphore, value) }
}
