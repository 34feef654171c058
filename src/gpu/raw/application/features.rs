//! The features of a Vulkan device that wgpu and this crate can use: plain data, and the structs that Vulkan has for them.

use super::adapter::VulkanAdapter;
use super::extensions;
use super::feature_chain::{Node, VulkanFeatureChain};
use ash::{ext, khr, vk};
use std::ffi::CStr;

/// Features of a Vulkan device, under Vulkan's names. [`supported`](Self::supported) returns those of a physical device
/// that are of use; an application enables what it wants of them and says so in
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
    /// The features of the physical device that wgpu and this crate can use, and no others. Without
    /// `VK_KHR_get_physical_device_properties2` on an instance for Vulkan 1.0, only those of Vulkan 1.0 are known.
    ///
    /// # Safety
    /// As [`VulkanAdapter::device_version`].
    #[must_use]
    pub unsafe fn supported(adapter: &VulkanAdapter<'_>) -> Self {
        // SAFETY: the caller guarantees what both functions need.
        let found = unsafe { Self::of_physical_device(adapter) };
        let core = vk::PhysicalDeviceFeatures {
            robust_buffer_access: found.core.robust_buffer_access,
            shader_int64: found.core.shader_int64,
            ..Default::default()
        };
        Self { core, ..found }
    }

    /// As [`supported`](Self::supported), with all features of Vulkan 1.0.
    ///
    /// # Safety
    /// As [`VulkanAdapter::device_version`].
    pub(super) unsafe fn of_physical_device(adapter: &VulkanAdapter<'_>) -> Self {
        // SAFETY: the caller guarantees the adapter.
        let instance = unsafe { adapter.load() };
        // SAFETY: as above. The address is that of this function.
        let get_features2 = unsafe {
            adapter.of_properties2(c"vkGetPhysicalDeviceFeatures2", c"vkGetPhysicalDeviceFeatures2KHR").map(
                |address| {
                    std::mem::transmute::<unsafe extern "system" fn(), vk::PFN_vkGetPhysicalDeviceFeatures2>(
                        address,
                    )
                },
            )
        };
        let Some(get_features2) = get_features2 else {
            // SAFETY: the caller guarantees the physical device.
            let core = unsafe { instance.get_physical_device_features(adapter.physical_device) };
            return Self { core, ..Self::default() };
        };
        // SAFETY: the caller guarantees the adapter.
        let known = unsafe { extensions::usable(adapter, &instance) };
        let mut chain = VulkanFeatureChain::default();
        let p_next = chain.linked(|node| known.contains(&node.extension)).cast();
        let mut features = vk::PhysicalDeviceFeatures2 { p_next, ..Default::default() };
        // SAFETY: the function belongs to the physical device. All structs of the chain live until the call returns.
        unsafe { get_features2(adapter.physical_device, &mut features) };
        chain.core = features.features;
        chain.features()
    }

    /// Names of the device extensions that these features need on a device of this version of Vulkan
    /// ([`VulkanAdapter::device_version`]). A device of Vulkan 1.0 always needs some.
    ///
    /// If the physical device lists `VK_EXT_memory_budget`, that extension is worth enabling too; nothing needs it.
    #[must_use]
    pub fn required_extensions(&self, version: u32) -> Vec<&'static CStr> {
        let mut needed = Vec::new();
        if version < vk::API_VERSION_1_1 {
            needed.extend([khr::maintenance1::NAME, khr::storage_buffer_storage_class::NAME]);
        }
        let mut chain = self.chain();
        let used = chain.nodes().into_iter().filter(Node::is_used).map(|node| node.extension);
        needed.extend(used.filter(|extension| !extensions::is_core(extension, version)));
        needed
    }

    /// Vulkan's structs of these features, for the creation of a device.
    #[must_use]
    pub fn chain(&self) -> VulkanFeatureChain {
        let mut chain = VulkanFeatureChain { core: self.core, ..Default::default() };
        chain.storage16 = chain
            .storage16
            .storage_buffer16_bit_access(self.storage_buffer16_bit_access)
            .uniform_and_storage_buffer16_bit_access(self.uniform_and_storage_buffer16_bit_access);
        chain.float16_int8 =
            chain.float16_int8.shader_float16(self.shader_float16).shader_int8(self.shader_int8);
        chain.dot = chain.dot.shader_integer_dot_product(self.shader_integer_dot_product);
        chain.subgroups = chain.subgroups.subgroup_size_control(self.subgroup_size_control);
        chain.matrix = chain.matrix.cooperative_matrix(self.cooperative_matrix);
        chain.memory_model = chain
            .memory_model
            .vulkan_memory_model(self.vulkan_memory_model)
            .vulkan_memory_model_device_scope(self.vulkan_memory_model_device_scope);
        chain.timeline = chain.timeline.timeline_semaphore(self.timeline_semaphore);
        chain.zeros =
            chain.zeros.shader_zero_initialize_workgroup_memory(self.shader_zero_initialize_workgroup_memory);
        chain.robustness2 = chain
            .robustness2
            .robust_buffer_access2(self.robust_buffer_access2)
            .robust_image_access2(self.robust_image_access2);
        chain.image_robustness = chain.image_robustness.robust_image_access(self.robust_image_access);
        chain
    }

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
