//! The adoptions of Vulkan devices that are alive, with the application's real functions.
//!
//! NOTE: this table is the crate's only state of the whole process. wgpu loads functions through an `ash::Entry` and calls
//! some of an `ash::Instance`, and [`told`](super::told) replaces a few of them. A function of Vulkan is a plain pointer
//! without context, so those replacements look up here what they stand for, by the handle that they are called with. An
//! adoption adds one entry and removes it when wgpu lets go of the instance. Nothing but a lookup happens under the lock.

use super::adapter::VulkanAdapter;
use ash::vk;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

static LIVE: Mutex<Vec<Arc<InstanceFunctions>>> = Mutex::new(Vec::new());

/// The functions of an application's instance.
pub(super) struct InstanceFunctions {
    handle: vk::Instance,
    physical_device: vk::PhysicalDevice,
    pub(super) get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr,
    pub(super) instance: ash::Instance,
    pub(super) get_features2: Option<vk::PFN_vkGetPhysicalDeviceFeatures2>,
    pub(super) get_properties2: Option<vk::PFN_vkGetPhysicalDeviceProperties2>,
}

/// An entry of the table. Its drop removes it.
pub(super) struct LiveInstance(Arc<InstanceFunctions>);

impl LiveInstance {
    /// Adds an adoption.
    ///
    /// # Safety
    /// As [`VulkanAdapter::device_version`], until the entry is dropped.
    pub(super) unsafe fn add(adapter: &VulkanAdapter<'_>) -> Self {
        // SAFETY: the caller guarantees the adapter; each address is that of the function it becomes.
        let real = unsafe {
            Arc::new(InstanceFunctions {
                handle: adapter.instance,
                physical_device: adapter.physical_device,
                get_instance_proc_addr: adapter.get_instance_proc_addr,
                instance: adapter.load(),
                get_features2: adapter.get_features2(),
                get_properties2: adapter
                    .of_properties2(c"vkGetPhysicalDeviceProperties2", c"vkGetPhysicalDeviceProperties2KHR")
                    .map(|address| {
                        std::mem::transmute::<
                            unsafe extern "system" fn(),
                            vk::PFN_vkGetPhysicalDeviceProperties2,
                        >(address)
                    }),
            })
        };
        table().push(real.clone());
        Self(real)
    }

    pub(super) fn real(&self) -> &Arc<InstanceFunctions> {
        &self.0
    }
}

impl Drop for LiveInstance {
    fn drop(&mut self) {
        table().retain(|real| !Arc::ptr_eq(real, &self.0));
    }
}

impl VulkanAdapter<'_> {
    /// Whether something of an adoption of a device of this instance is still alive: a [`Gpu`](crate::Gpu), a tensor, a buffer
    /// of wgpu, or, for a moment after a device was lost, a thread of this crate. When it returns false, this crate and wgpu
    /// have destroyed all that they created on the device, and the application may destroy the device.
    #[must_use]
    pub fn is_adopted(&self) -> bool {
        of_instance(self.instance).is_some()
    }
}

/// An adoption of this instance.
pub(super) fn of_instance(handle: vk::Instance) -> Option<Arc<InstanceFunctions>> {
    table().iter().find(|real| real.handle == handle).cloned()
}

/// An adoption of a device of this physical device.
pub(super) fn of_physical_device(handle: vk::PhysicalDevice) -> Option<Arc<InstanceFunctions>> {
    table().iter().find(|real| real.physical_device == handle).cloned()
}

fn table() -> MutexGuard<'static, Vec<Arc<InstanceFunctions>>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}
