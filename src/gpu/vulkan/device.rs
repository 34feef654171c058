//! An application's description of its own Vulkan device: plain data, and its checks.

use super::adapter::VulkanAdapter;
use super::features::VulkanFeatures;
use crate::{Error, Result};
use ash::vk::{self, Handle};
use std::ffi::CStr;

/// An application's Vulkan device, as the application created it, and the queue to share: see
/// [`Gpu::from_vulkan`](crate::Gpu::from_vulkan).
#[derive(Clone, Copy)]
pub struct VulkanDevice<'a> {
    /// The instance and the physical device that the device was created on.
    pub adapter: VulkanAdapter<'a>,
    /// The device. In `ash`: `device.handle()`.
    pub device: vk::Device,
    /// Names of the device extensions that the application enabled.
    pub device_extensions: &'a [&'a CStr],
    /// The features that the application enabled. A feature that is false here is not used, even if the device has it.
    pub features: VulkanFeatures,
    /// Family of the queue to submit to. It needs graphics and compute, because wgpu's barriers name the stages of both.
    pub queue_family: u32,
    /// Index of the queue in its family.
    pub queue_index: u32,
}

impl VulkanDevice<'_> {
    /// Checks the properties that can be verified without trusting the application.
    ///
    /// # Errors
    /// [`Error::Input`] for a null handle, or a queue that the physical device does not have; [`Error::Unsupported`] for
    /// a queue that lacks graphics or compute.
    ///
    /// # Safety
    /// As [`VulkanAdapter::device_version`], unless a handle is null.
    pub(super) unsafe fn check(&self) -> Result<()> {
        let adapter = &self.adapter;
        for (what, is_null) in [
            ("instance", adapter.instance.is_null()),
            ("physical_device", adapter.physical_device.is_null()),
            ("device", self.device.is_null()),
        ] {
            if is_null {
                return Err(Error::input(format!("{OP}: {what}"), "it is VK_NULL_HANDLE"));
            }
        }
        // SAFETY: the caller guarantees the instance and the physical device, which are not null.
        let families =
            unsafe { adapter.load().get_physical_device_queue_family_properties(adapter.physical_device) };
        let (family, index) = (self.queue_family, self.queue_index);
        let Some(properties) = families.get(family as usize) else {
            let why =
                format!("it is {family}, but the physical device has {} queue families", families.len());
            return Err(Error::input(format!("{OP}: queue_family"), why));
        };
        if index >= properties.queue_count {
            let why = format!("it is {index}, but family {family} has {} queues", properties.queue_count);
            return Err(Error::input(format!("{OP}: queue_index"), why));
        }
        if !properties.queue_flags.contains(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE) {
            return Err(Error::Unsupported {
                op: OP,
                needs:
                    "a queue family with graphics and compute, because wgpu's barriers name the stages of \
                        both"
                        .into(),
                device: format!("queue family {family}, which has {:?}", properties.queue_flags),
            });
        }
        Ok(())
    }
}

/// The function that errors name.
pub(super) const OP: &str = "Gpu::from_vulkan";
