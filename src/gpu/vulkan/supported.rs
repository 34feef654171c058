//! The features that a physical device has, and the extensions that they need.

use super::adapter::VulkanAdapter;
use super::extensions;
use super::feature_chain::{ChainStruct, VulkanFeatureChain};
use super::features::VulkanFeatures;
use ash::{khr, vk};
use std::ffi::CStr;

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
        // SAFETY: as above.
        let Some(get_features2) = (unsafe { adapter.get_features2() }) else {
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
        let used = chain.nodes().into_iter().filter(ChainStruct::is_used).map(|node| node.extension);
        needed.extend(used.filter(|extension| !extensions::is_core(extension, version)));
        needed
    }
}
