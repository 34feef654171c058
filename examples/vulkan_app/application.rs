//! The application's instance, device and queue.
#![expect(unsafe_code, reason = "Vulkan is called without a library that checks the calls")]

use super::buffer::Buffer;
use super::messages::{self, Messages, Messenger};
use super::program::checked;
use std::ffi::CStr;
use std::sync::PoisonError;
use tilewise::gpu::ash::{self, ext, vk};
use tilewise::gpu::{VulkanAdapter, VulkanDevice, VulkanFeatures};
use tilewise::{Error, Result};

const LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";
const API_VERSION: u32 = vk::API_VERSION_1_2;

pub(crate) struct Application {
    entry: ash::Entry,
    instance: ash::Instance,
    instance_extensions: Vec<&'static CStr>,
    messenger: Option<Messenger>,
    messages: Box<Messages>,
    physical_device: vk::PhysicalDevice,
    pub(crate) memory: vk::PhysicalDeviceMemoryProperties,
    pub(crate) device: ash::Device,
    device_extensions: Vec<&'static CStr>,
    features: VulkanFeatures,
    family: u32,
    queue: vk::Queue,
    pool: vk::CommandPool,
}

impl Application {
    pub(crate) fn new() -> Result<Self> {
        // SAFETY: the loader is Vulkan's. The calls keep Vulkan's rules, which the validation layer can check. On an error the
        // program ends.
        unsafe {
            let missing = |error: ash::LoadingError| Error::Device(format!("no Vulkan: {error}").into());
            let entry = ash::Entry::load().map_err(missing)?;
            let layers = checked("layers", entry.enumerate_instance_layer_properties())?;
            let is_there = layers.iter().any(|layer| layer.layer_name_as_c_str() == Ok(LAYER));
            let validates = is_there && std::env::var("WGPU_VALIDATION").is_ok_and(|on| on != "0");
            let instance_extensions = if validates { vec![ext::debug_utils::NAME] } else { Vec::new() };
            let messages = Box::new(Messages::default());
            let instance = instance(&entry, &instance_extensions, validates, &messages)?;
            let messenger = validates.then(|| {
                let functions = ext::debug_utils::Instance::new(&entry, &instance);
                let messenger = functions.create_debug_utils_messenger(&messages::info(&messages), None);
                checked("the messenger", messenger).map(|messenger| Messenger(functions, messenger))
            });
            let messenger = messenger.transpose()?;

            let devices = checked("physical devices", instance.enumerate_physical_devices())?;
            let found = devices.into_iter().find_map(|device| Some((device, family(&instance, device)?)));
            let (physical_device, family) = found
                .ok_or_else(|| Error::Device("no device has a queue for graphics and compute".into()))?;
            let adapter = adapter(&entry, &instance, &instance_extensions, physical_device);
            // What Tilewise can use. An application that needs more adds it, one that has its reasons takes some away.
            let features = VulkanFeatures::supported(&adapter);
            let device_extensions = features.required_extensions(adapter.device_version());
            let names: Vec<_> = device_extensions.iter().map(|name| name.as_ptr()).collect();
            let queues =
                [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
            let info =
                vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
            let mut chain = features.chain();
            let info = chain.push_to(info);
            let device = checked("the device", instance.create_device(physical_device, &info, None))?;
            let queue = device.get_device_queue(family, 0);
            let info = vk::CommandPoolCreateInfo::default()
                .queue_family_index(family)
                .flags(vk::CommandPoolCreateFlags::TRANSIENT);
            let pool = checked("the command pool", device.create_command_pool(&info, None))?;
            let memory = instance.get_physical_device_memory_properties(physical_device);
            Ok(Self {
                entry,
                instance,
                instance_extensions,
                messenger,
                messages,
                physical_device,
                memory,
                device,
                device_extensions,
                features,
                family,
                queue,
                pool,
            })
        }
    }

    /// The description of the device that Tilewise needs.
    pub(crate) fn described(&self) -> VulkanDevice<'_> {
        VulkanDevice {
            adapter: adapter(&self.entry, &self.instance, &self.instance_extensions, self.physical_device),
            device: self.device.handle(),
            device_extensions: &self.device_extensions,
            features: self.features,
            queue_family: self.family,
            queue_index: 0,
        }
    }

    /// Records commands, submits them and waits until they have run.
    pub(crate) fn submit(&self, record: impl FnOnce(vk::CommandBuffer)) -> Result<()> {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.pool)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(1);
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the pool and the queue are this device's, and the application has one thread.
        unsafe {
            let buffers = checked("a command buffer", self.device.allocate_command_buffers(&info))?;
            checked("recording", self.device.begin_command_buffer(buffers[0], &begin))?;
            record(buffers[0]);
            checked("recording", self.device.end_command_buffer(buffers[0]))?;
            let work = [vk::SubmitInfo::default().command_buffers(&buffers)];
            checked("submitting", self.device.queue_submit(self.queue, &work, vk::Fence::null()))?;
            checked("waiting", self.device.queue_wait_idle(self.queue))?;
            self.device.free_command_buffers(self.pool, &buffers);
        }
        Ok(())
    }

    /// Makes all that earlier work on the queue has written visible to later work, whoever submits it.
    pub(crate) fn barrier(&self, commands: vk::CommandBuffer) {
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        let access = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
        let barrier = [vk::MemoryBarrier::default().src_access_mask(access).dst_access_mask(access)];
        // SAFETY: the command buffer is being recorded.
        unsafe {
            self.device.cmd_pipeline_barrier(
                commands,
                all,
                all,
                vk::DependencyFlags::empty(),
                &barrier,
                &[],
                &[],
            );
        }
    }

    /// Copies a buffer of the device, from this byte on, into one that the host reads.
    pub(crate) fn copy(&self, from: vk::Buffer, start: u64, to: &Buffer<'_>) -> Result<()> {
        self.submit(|commands| {
            self.barrier(commands);
            let region = [vk::BufferCopy { src_offset: start, size: to.size, ..Default::default() }];
            let host = [vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
                .dst_access_mask(vk::AccessFlags::HOST_READ)];
            // SAFETY: both buffers have `to.size` bytes, and the command buffer is being recorded.
            unsafe {
                self.device.cmd_copy_buffer(commands, from, to.handle, &region);
                self.device.cmd_pipeline_barrier(
                    commands,
                    vk::PipelineStageFlags::TRANSFER,
                    vk::PipelineStageFlags::HOST,
                    vk::DependencyFlags::empty(),
                    &host,
                    &[],
                    &[],
                );
            }
        })
    }

    /// The errors that the validation layer has reported.
    pub(crate) fn messages(&self) -> Vec<String> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the validation layer says, in words.
    pub(crate) fn validation(&self, messages: &[String]) -> String {
        match (&self.messenger, messages.len()) {
            (None, _) => "off (WGPU_VALIDATION=1 enables the layer)".into(),
            (Some(_), 0) => "on, with checks of synchronisation: no errors".into(),
            (Some(_), errors) => format!("on, with checks of synchronisation: {errors} errors"),
        }
    }
}

impl Drop for Application {
    fn drop(&mut self) {
        // SAFETY: all that was created on the device has been dropped, because it borrows the application or is a local of
        // `run`.
        unsafe {
            self.device.destroy_command_pool(self.pool, None);
            self.device.destroy_device(None);
            if let Some(Messenger(functions, messenger)) = &self.messenger {
                functions.destroy_debug_utils_messenger(*messenger, None);
            }
            self.instance.destroy_instance(None);
        }
    }
}

unsafe fn instance(
    entry: &ash::Entry,
    extensions: &[&CStr],
    validates: bool,
    messages: &Messages,
) -> Result<ash::Instance> {
    let application = vk::ApplicationInfo::default().application_name(c"vulkan_app").api_version(API_VERSION);
    let (names, layers): (Vec<_>, _) =
        (extensions.iter().map(|name| name.as_ptr()).collect(), [LAYER.as_ptr()]);
    let mut listened = messages::info(messages);
    let mut checks = vk::ValidationFeaturesEXT::default()
        .enabled_validation_features(&[vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION]);
    let mut info =
        vk::InstanceCreateInfo::default().application_info(&application).enabled_extension_names(&names);
    if validates {
        info = info.enabled_layer_names(&layers).push_next(&mut listened).push_next(&mut checks);
    }
    // SAFETY: all that `info` points to lives until the call returns.
    checked("the instance", unsafe { entry.create_instance(&info, None) })
}

fn adapter<'a>(
    entry: &ash::Entry,
    instance: &ash::Instance,
    instance_extensions: &'a [&'a CStr],
    physical_device: vk::PhysicalDevice,
) -> VulkanAdapter<'a> {
    VulkanAdapter {
        get_instance_proc_addr: entry.static_fn().get_instance_proc_addr,
        instance: instance.handle(),
        api_version: API_VERSION,
        instance_extensions,
        physical_device,
    }
}

/// A queue family with graphics and compute.
fn family(instance: &ash::Instance, device: vk::PhysicalDevice) -> Option<u32> {
    // SAFETY: the physical device is the instance's.
    let families = unsafe { instance.get_physical_device_queue_family_properties(device) };
    let both = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
    u32::try_from(families.iter().position(|family| family.queue_flags.contains(both))?).ok()
}
