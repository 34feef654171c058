//! An application's Vulkan instance and physical device: plain data.

use ash::vk;
use std::ffi::CStr;

/// An application's Vulkan instance and the physical device that it computes on.
#[derive(Clone, Copy)]
pub struct VulkanAdapter<'a> {
    /// The function that the instance was loaded with. In `ash`: `entry.static_fn().get_instance_proc_addr`.
    pub get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr,
    /// The instance. In `ash`: `instance.handle()`.
    pub instance: vk::Instance,
    /// The version of Vulkan that the application created the instance for: `VkApplicationInfo::apiVersion`, in which 0
    /// means 1.0. Nothing of a later version is used, even if the driver has it.
    pub api_version: u32,
    /// Names of the instance extensions that the application enabled.
    ///
    /// An instance for Vulkan 1.0 needs `VK_KHR_get_physical_device_properties2`; without it, the driver cannot be
    /// asked for its name, for f16 or for cooperative matrices. With `VK_EXT_debug_utils`, objects and passes are
    /// labelled.
    pub instance_extensions: &'a [&'a CStr],
    /// The physical device.
    pub physical_device: vk::PhysicalDevice,
}

impl VulkanAdapter<'_> {
    /// The version of Vulkan that devices of this adapter have: the lower one of the instance's and the physical
    /// device's.
    ///
    /// # Safety
    /// The function, the instance and the physical device are valid and belong together, and the version and the
    /// extensions are those of the instance.
    #[must_use]
    pub unsafe fn device_version(&self) -> u32 {
        // SAFETY: the caller guarantees the instance and the physical device.
        let properties = unsafe { self.load().get_physical_device_properties(self.physical_device) };
        minor_version(self.api_version.max(vk::API_VERSION_1_0)).min(minor_version(properties.api_version))
    }

    /// The functions of the instance.
    ///
    /// # Safety
    /// As [`device_version`](Self::device_version).
    pub(super) unsafe fn load(&self) -> ash::Instance {
        let functions = ash::StaticFn { get_instance_proc_addr: self.get_instance_proc_addr };
        // SAFETY: the caller guarantees that the instance is one of this function's.
        unsafe { ash::Instance::load(&functions, self.instance) }
    }

    /// The function for features in chains, if the application may call it.
    ///
    /// # Safety
    /// As [`device_version`](Self::device_version).
    pub(super) unsafe fn get_features2(&self) -> Option<vk::PFN_vkGetPhysicalDeviceFeatures2> {
        type Known = vk::PFN_vkGetPhysicalDeviceFeatures2;
        // SAFETY: the caller guarantees the adapter; the address is that of this function.
        unsafe {
            self.of_properties2(c"vkGetPhysicalDeviceFeatures2", c"vkGetPhysicalDeviceFeatures2KHR")
                .map(|address| std::mem::transmute::<unsafe extern "system" fn(), Known>(address))
        }
    }

    /// The address of a function of `VK_KHR_get_physical_device_properties2`, which Vulkan 1.1 has under `core`, if the
    /// application may call it.
    ///
    /// # Safety
    /// As [`device_version`](Self::device_version).
    pub(super) unsafe fn of_properties2(&self, core: &CStr, khr: &CStr) -> vk::PFN_vkVoidFunction {
        let name = if self.api_version >= vk::API_VERSION_1_1 {
            core
        } else if self.instance_extensions.contains(&ash::khr::get_physical_device_properties2::NAME) {
            khr
        } else {
            return None;
        };
        // SAFETY: the caller guarantees the function and the instance; the name ends with a zero.
        unsafe { (self.get_instance_proc_addr)(self.instance, name.as_ptr()) }
    }
}

/// The version without its revision, by which features are defined.
fn minor_version(version: u32) -> u32 {
    vk::make_api_version(0, vk::api_version_major(version), vk::api_version_minor(version), 0)
}
