//! An application that creates its own Vulkan instance, device and queue, and adopts the device.
#![expect(unsafe_code, reason = "Vulkan is called without a library that checks the calls")]

use super::TestGpu;
use std::ffi::{CStr, c_void};
use std::mem::ManuallyDrop;
use std::sync::{Mutex, PoisonError};
use tilewise::gpu::ash::{self, ext, khr, vk};
use tilewise::gpu::{AdoptOptions, VulkanAdapter, VulkanDevice, VulkanFeatures};
use tilewise::{Error, Gpu, Result};

/// How an application creates its instance and its device.
pub struct Ask {
    pub api_version: u32,
    pub instance_extensions: Vec<&'static CStr>,
    /// Edits the features that Tilewise would use.
    pub features: fn(&mut VulkanFeatures),
    /// Edits the extensions that these features need.
    pub extensions: fn(&mut Vec<&'static CStr>),
}

impl Default for Ask {
    fn default() -> Self {
        let (api_version, instance_extensions) = (vk::API_VERSION_1_3, Vec::new());
        Self { api_version, instance_extensions, features: |_| (), extensions: |_| () }
    }
}

/// An application with its device. Its drop destroys both, and asserts that the validation layer has reported nothing.
pub struct Application {
    pub entry: ash::Entry,
    pub instance: ash::Instance,
    pub physical_device: vk::PhysicalDevice,
    pub device: ash::Device,
    pub queue: vk::Queue,
    api_version: u32,
    instance_extensions: Vec<&'static CStr>,
    device_extensions: Vec<&'static CStr>,
    pub features: VulkanFeatures,
    pub family: u32,
    messenger: Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    messages: Box<Messages>,
    /// Pools of commands that may still run.
    pub pools: Mutex<Vec<vk::CommandPool>>,
}

/// Errors that the validation layer has reported to the application.
type Messages = Mutex<Vec<String>>;

impl Application {
    /// None without the Vulkan device that the other tests use.
    pub fn new(ask: Ask) -> Option<Self> {
        let gpu = super::gpu()?;
        if gpu.caps().backend != "vulkan" {
            println!("skipped: not Vulkan");
            return None;
        }
        let name = gpu.caps().adapter.clone();
        // SAFETY: Vulkan's rules are kept as the calls' documentation has them; the validation layer checks that.
        unsafe {
            let entry = ash::Entry::load().expect("the loader that wgpu uses");
            let Ask { api_version, mut instance_extensions, features: edit, extensions: edit_names } = ask;
            let messages = Box::new(Messages::default());
            let validates = std::env::var("WGPU_VALIDATION").is_ok_and(|on| on != "0");
            let mut listened = messenger_info(&messages);
            let layer = [c"VK_LAYER_KHRONOS_validation".as_ptr()];
            if validates {
                instance_extensions.push(ext::debug_utils::NAME);
            }
            let app = vk::ApplicationInfo::default().application_name(c"test").api_version(api_version);
            let names: Vec<_> = instance_extensions.iter().map(|name| name.as_ptr()).collect();
            let mut info =
                vk::InstanceCreateInfo::default().application_info(&app).enabled_extension_names(&names);
            if validates {
                info = info.enabled_layer_names(&layer).push_next(&mut listened);
            }
            let instance = entry.create_instance(&info, None).expect("an instance");
            let messenger = validates.then(|| {
                let functions = ext::debug_utils::Instance::new(&entry, &instance);
                let messenger = functions.create_debug_utils_messenger(&messenger_info(&messages), None);
                (functions, messenger.expect("a messenger"))
            });
            let is_named = |device: &vk::PhysicalDevice| {
                let properties = instance.get_physical_device_properties(*device);
                properties.device_name_as_c_str().is_ok_and(|found| found.to_string_lossy() == name)
            };
            let devices = instance.enumerate_physical_devices().expect("physical devices");
            let physical_device = devices.into_iter().find(is_named).expect("the device of the other tests");
            let adapter = VulkanAdapter {
                get_instance_proc_addr: entry.static_fn().get_instance_proc_addr,
                instance: instance.handle(),
                api_version,
                instance_extensions: &instance_extensions,
                physical_device,
            };
            let mut features = VulkanFeatures::supported(&adapter);
            edit(&mut features);
            let mut device_extensions = features.required_extensions(adapter.device_version());
            edit_names(&mut device_extensions);
            let family = 0;
            let queues =
                [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
            let names: Vec<_> = device_extensions.iter().map(|name| name.as_ptr()).collect();
            let info =
                vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
            let mut chain = features.chain();
            let info = chain.push_to(info);
            let device = instance.create_device(physical_device, &info, None).expect("a device");
            let queue = device.get_device_queue(family, 0);
            Some(Self {
                entry,
                instance,
                physical_device,
                device,
                queue,
                api_version,
                instance_extensions,
                device_extensions,
                features,
                family,
                messenger,
                messages,
                pools: Mutex::default(),
            })
        }
    }

    /// A queue family that has no graphics, if the physical device has one.
    pub fn family_without_graphics(&self) -> Option<u32> {
        // SAFETY: the physical device is one of the instance.
        let families =
            unsafe { self.instance.get_physical_device_queue_family_properties(self.physical_device) };
        let lacks_graphics =
            |family: &vk::QueueFamilyProperties| !family.queue_flags.contains(vk::QueueFlags::GRAPHICS);
        families.iter().position(lacks_graphics).and_then(|at| at.try_into().ok())
    }

    /// What Tilewise is told of the device.
    pub fn described(&self) -> VulkanDevice<'_> {
        VulkanDevice {
            adapter: VulkanAdapter {
                get_instance_proc_addr: self.entry.static_fn().get_instance_proc_addr,
                instance: self.instance.handle(),
                api_version: self.api_version,
                instance_extensions: &self.instance_extensions,
                physical_device: self.physical_device,
            },
            device: self.device.handle(),
            device_extensions: &self.device_extensions,
            features: self.features,
            queue_family: self.family,
            queue_index: 0,
        }
    }

    /// Adopts the device with the environment's options.
    pub fn adopt(&self) -> Adopted<'_> {
        let options = AdoptOptions::from_env().expect("the environment makes sense");
        self.try_adopt(options).expect("the device is adopted")
    }

    pub fn try_adopt(&self, options: impl Into<AdoptOptions>) -> Result<Adopted<'_>> {
        self.adopt_as(self.described(), options)
    }

    /// Adopts the device as described wrongly in a way that is an error.
    pub fn refused(&self, edit: impl FnOnce(&mut VulkanDevice<'_>)) -> Error {
        let mut described = self.described();
        edit(&mut described);
        let result = self.adopt_as(described, AdoptOptions::default());
        result.err().expect("the description is wrong")
    }

    fn adopt_as(&self, described: VulkanDevice<'_>, options: impl Into<AdoptOptions>) -> Result<Adopted<'_>> {
        // SAFETY: the description is true, or wrong in a way that is documented as an error. The result borrows the
        // application, so it is dropped before the device is destroyed. Each test uses its application on one thread at a
        // time.
        let gpu = unsafe { Gpu::from_vulkan_with(described, options)? };
        Ok(Adopted { gpu: ManuallyDrop::new(TestGpu(gpu)), _application: self })
    }

    /// Waits until the queue is idle.
    pub fn wait(&self) {
        // SAFETY: no other thread uses the queue.
        unsafe { self.device.queue_wait_idle(self.queue).expect("the queue runs") }
    }

    /// The validation layer's errors so far, which are then forgotten.
    pub fn take_messages(&self) -> Vec<String> {
        std::mem::take(&mut *self.messages.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Application {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(!self.described().adapter.is_adopted(), "something is left on the device");
        }
        // SAFETY: the tests drop all that was created on the device before.
        unsafe {
            let _ = self.device.device_wait_idle();
            for pool in self.pools.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
                self.device.destroy_command_pool(pool, None);
            }
            self.device.destroy_device(None);
            if let Some((functions, messenger)) = &self.messenger {
                functions.destroy_debug_utils_messenger(*messenger, None);
            }
            self.instance.destroy_instance(None);
        }
        if !std::thread::panicking() {
            let messages = self.take_messages();
            assert!(messages.is_empty(), "the validation layer complains:\n{}", messages.join("\n"));
        }
    }
}

/// A `Gpu` on an application's device, which it does not outlive.
pub struct Adopted<'a> {
    gpu: ManuallyDrop<TestGpu>,
    _application: &'a Application,
}

impl std::ops::Deref for Adopted<'_> {
    type Target = Gpu;
    fn deref(&self) -> &Gpu {
        &self.gpu
    }
}

impl Drop for Adopted<'_> {
    fn drop(&mut self) {
        // SAFETY: dropped once, here.
        unsafe { ManuallyDrop::drop(&mut self.gpu) }
    }
}

fn messenger_info(messages: &Messages) -> vk::DebugUtilsMessengerCreateInfoEXT<'_> {
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR)
        .message_type(
            vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION | vk::DebugUtilsMessageTypeFlagsEXT::GENERAL,
        )
        .user_data(std::ptr::from_ref(messages).cast_mut().cast())
        .pfn_user_callback(Some(hear))
}

/// Messages that wgpu causes, by their exact id. NOTE: naga gives an array in workgroup memory a stride, which the layer
/// refuses and no driver minds (gfx-rs/wgpu#7696); wgpu filters it for its own instances too.
const OF_WGPU: [&str; 1] = ["VUID-StandaloneSpirv-None-10684"];

unsafe extern "system" fn hear(
    _: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    messages: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: Vulkan passes valid data, and what the messenger was created with, which outlives it.
    let (data, messages) = unsafe { (&*data, &*messages.cast::<Messages>()) };
    // SAFETY: both are null or texts.
    let texts = unsafe { [data.message_id_name_as_c_str(), data.message_as_c_str()] };
    let [id, text] = texts.map(|text| text.map_or(String::new(), |text| text.to_string_lossy().into_owned()));
    if !OF_WGPU.contains(&id.as_str()) {
        messages.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{id}: {text}"));
    }
    vk::FALSE
}

/// Creates an instance extension's list for an application of Vulkan 1.0.
pub fn properties2() -> Vec<&'static CStr> {
    vec![khr::get_physical_device_properties2::NAME]
}
