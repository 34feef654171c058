//! Timeline semaphores that order the shared queue against other queues and against the host.

use crate::gpu::handle::gpu::Gpu;
use crate::{Error, Result};
use ash::vk::{self, Handle};
use wgpu::hal::vulkan::Api;

impl Gpu {
    /// Makes the next submission to [`Gpu::queue`] wait until `semaphore` has at least this value.
    ///
    /// It is the next submission of anyone: of this crate (recorded work is submitted as a whole by a read, by
    /// [`flush`](Self::flush), or when enough is recorded), of the application through wgpu, on any thread. Work that is
    /// recorded already and not yet submitted therefore waits too. To let it run before, call [`flush`](Self::flush) first.
    /// Later submissions wait as well, because wgpu runs submissions in order.
    ///
    /// Data that another queue wrote before it signalled the semaphore can then be read without a barrier. This does not
    /// include writes of the host to mapped memory, which must come before the submission that reads them (before
    /// [`flush`](Self::flush)), not between it and `vkSignalSemaphore`.
    ///
    /// Until the value is signalled, [`to_vec`](crate::Tensor::to_vec), [`wait`](Self::wait) and every other call that waits
    /// for a submission on this queue waits too, without a time limit.
    ///
    /// # Safety
    /// The semaphore is a timeline semaphore of this device, not a binary one. It lives until the submission has run. Something signals the
    /// value that does not itself wait for this queue; otherwise every later wait for this device hangs.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if this device is not one of Vulkan, or was created without `timelineSemaphore`;
    /// [`Error::Input`] for a null handle; [`Error::Device`] if the device is lost.
    pub unsafe fn wait_for_semaphore(&self, semaphore: vk::Semaphore, value: u64) -> Result<()> {
        let op = "wait_for_semaphore";
        self.check_semaphore(op, semaphore)?;
        // SAFETY: the guard is dropped at the end of this function.
        let queue = unsafe { self.queue().as_hal::<Api>() };
        let queue = queue.ok_or_else(|| Error::device("the queue is not one of Vulkan"))?;
        queue.add_wait_semaphore(semaphore, Some(value), vk::PipelineStageFlags::ALL_COMMANDS);
        Ok(())
    }

    /// Makes the next submission to [`Gpu::queue`] set `semaphore` to this value when it has run, for the host or another
    /// queue to wait on.
    ///
    /// It is the next submission of anyone, as in [`wait_for_semaphore`](Self::wait_for_semaphore). To signal the end of what
    /// is recorded, call this and then [`flush`](Self::flush). A flush that has nothing to submit signals nothing: then
    /// submit to [`Gpu::queue`], even an empty list.
    ///
    /// Another queue that waits for the value needs no barrier. A host that waits for it and then reads mapped memory does:
    /// waiting on the host makes no writes of the device visible to it. So the application submits commands of its own that
    /// begin after Tilewise's work and end with a barrier to `VK_PIPELINE_STAGE_HOST_BIT` and `VK_ACCESS_HOST_READ_BIT`, and
    /// waits for these. [`to_vec`](crate::Tensor::to_vec) needs none of this.
    ///
    /// # Safety
    /// The semaphore is a timeline semaphore of this device, not a binary one, and lives until the submission has run. Its value is below
    /// `value` until then, and nothing else is to signal a value between.
    ///
    /// # Errors
    /// As [`wait_for_semaphore`](Self::wait_for_semaphore).
    pub unsafe fn signal_semaphore(&self, semaphore: vk::Semaphore, value: u64) -> Result<()> {
        let op = "signal_semaphore";
        self.check_semaphore(op, semaphore)?;
        // SAFETY: the guard is dropped at the end of this function.
        let queue = unsafe { self.queue().as_hal::<Api>() };
        let queue = queue.ok_or_else(|| Error::device("the queue is not one of Vulkan"))?;
        queue.add_signal_semaphore(semaphore, Some(value));
        Ok(())
    }

    fn check_semaphore(&self, op: &'static str, semaphore: vk::Semaphore) -> Result<()> {
        self.check_vulkan(op)?;
        self.inner.status.check()?;
        if semaphore.is_null() {
            return Err(Error::input(format!("{op}: semaphore"), "it is VK_NULL_HANDLE"));
        }
        if !self.has_timeline_semaphores() {
            let caps = self.known_caps();
            return Err(Error::Unsupported {
                op,
                needs: "a device that was created with the feature timelineSemaphore".into(),
                device: format!("{} ({})", caps.adapter, caps.backend),
            });
        }
        Ok(())
    }

    /// Whether the device was created with timeline semaphores. wgpu creates every device so if the driver has them.
    fn has_timeline_semaphores(&self) -> bool {
        let names = ["timelineSemaphore", "VK_KHR_get_physical_device_properties2"];
        let is_of = |missing: &String| names.iter().any(|name| missing.starts_with(name));
        // SAFETY: the guard is dropped at the end of this function.
        let Some(device) = (unsafe { self.device().as_hal::<Api>() }) else { return false };
        let instance = device.shared_instance().raw_instance();
        // SAFETY: the physical device belongs to that instance.
        let properties = unsafe { instance.get_physical_device_properties(device.raw_physical_device()) };
        let extension = ash::khr::timeline_semaphore::NAME;
        let is_there = properties.api_version >= vk::API_VERSION_1_2
            || device.enabled_device_extensions().contains(&extension);
        is_there && !self.known_caps().not_enabled.iter().any(is_of)
    }
}
