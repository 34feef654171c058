//! The features of a Vulkan device that wgpu and this crate can use: plain data.

use ash::{ext, khr, vk};
use std::ffi::CStr;

/// Features of a Vulkan device, under Vulkan's names. [`supported`](Self::supported) returns the useful ones of a
/// physical device. An application enables any of them and lists these in
/// [`VulkanDevice::features`](super::VulkanDevice::features).
///
/// The default has none, which is enough to multiply matrices of f32.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct VulkanFeatures {
    /// The features of Vulkan 1.0. Of use: `shaderInt64` (wider loads) and `robustBufferAccess`. The others only decide
    /// what the application's own work on [`Gpu::device`](crate::Gpu::device) may use.
    pub core: vk::PhysicalDeviceFeatures,
    /// Half of what f16 needs of storage buffers.
    pub storage_buffer16_bit_access: bool,
    /// The other half, which wgpu asks for.
    pub uniform_and_storage_buffer16_bit_access: bool,
    /// Arithmetic in f16.
    pub shader_float16: bool,
    /// Bytes in shaders, which make products of packed i8 faster.
    pub shader_int8: bool,
    /// Dot products of packed bytes.
    pub shader_integer_dot_product: bool,
    /// A known subgroup size: without it, no subgroup operations are used.
    pub subgroup_size_control: bool,
    /// Cooperative matrices (tensor cores). They need `vulkan_memory_model`, its device scope and subgroups.
    pub cooperative_matrix: bool,
    /// What cooperative matrices need.
    pub vulkan_memory_model: bool,
    /// What cooperative matrices need.
    pub vulkan_memory_model_device_scope: bool,
    /// Semaphores that count: for [`Gpu::wait_for_semaphore`](crate::Gpu::wait_for_semaphore), and fewer fences.
    pub timeline_semaphore: bool,
    /// Shared memory that starts as zeros, for the application's own shaders.
    pub shader_zero_initialize_workgroup_memory: bool,
    /// Exact checks of accesses to buffers. wgpu then leaves these checks to the driver.
    pub robust_buffer_access2: bool,
    /// Exact checks of accesses to images.
    pub robust_image_access2: bool,
    /// Checks of accesses to images.
    pub robust_image_access: bool,
}

impl VulkanFeatures {
    /// Each feature that [`supported`](Self::supported) may return: Vulkan's name, the extension that it needs, and whether it
    /// is on.
    pub(super) fn named(&self) -> [(&'static str, Option<&'static CStr>, bool); 16] {
        let storage16 = Some(khr::_16bit_storage::NAME);
        let float16_int8 = Some(khr::shader_float16_int8::NAME);
        let memory_model = Some(khr::vulkan_memory_model::NAME);
        let robustness2 = Some(ext::robustness2::NAME);
        let zeros = Some(khr::zero_initialize_workgroup_memory::NAME);
        let both16 = self.uniform_and_storage_buffer16_bit_access;
        let device_scope = self.vulkan_memory_model_device_scope;
        [
            ("shaderFloat16", float16_int8, self.shader_float16),
            ("storageBuffer16BitAccess", storage16, self.storage_buffer16_bit_access),
            ("uniformAndStorageBuffer16BitAccess", storage16, both16),
            ("shaderInt64", None, self.core.shader_int64 != vk::FALSE),
            ("subgroupSizeControl", Some(ext::subgroup_size_control::NAME), self.subgroup_size_control),
            ("cooperativeMatrix", Some(khr::cooperative_matrix::NAME), self.cooperative_matrix),
            ("vulkanMemoryModel", memory_model, self.vulkan_memory_model),
            ("vulkanMemoryModelDeviceScope", memory_model, device_scope),
            ("timelineSemaphore", Some(khr::timeline_semaphore::NAME), self.timeline_semaphore),
            ("shaderInt8", float16_int8, self.shader_int8),
            (
                "shaderIntegerDotProduct",
                Some(khr::shader_integer_dot_product::NAME),
                self.shader_integer_dot_product,
            ),
            ("robustBufferAccess", None, self.core.robust_buffer_access != vk::FALSE),
            ("robustBufferAccess2", robustness2, self.robust_buffer_access2),
            ("robustImageAccess2", robustness2, self.robust_image_access2),
            ("robustImageAccess", Some(ext::image_robustness::NAME), self.robust_image_access),
            ("shaderZeroInitializeWorkgroupMemory", zeros, self.shader_zero_initialize_workgroup_memory),
        ]
    }
}
