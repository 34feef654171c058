//! Adopts an application's own Vulkan device.

use super::adapter::VulkanAdapter;
use super::device::{OP, VulkanDevice};
use super::extensions;
use super::features::VulkanFeatures;
use super::live;
use super::told::{self, Told};
use crate::error::Named;
use crate::gpu::device::open_device::Device;
use crate::gpu::handle::gpu::Gpu;
use crate::gpu::open::adopt::AdoptOptions;
use crate::gpu::options::buffer_access::BufferAccess;
use crate::{Error, Result};
use ash::{khr, vk};
use std::ffi::CStr;
use wgpu::hal::vulkan::{Api, Instance};

impl Gpu {
    /// Computes on an application's own Vulkan device, with its queue. [`Gpu::device`] and [`Gpu::queue`] are then wgpu's
    /// handles of both, and everything else works as on a device that [`Gpu::adopt`] took over.
    ///
    /// If the application does not enable a feature, [`Gpu::caps`] lacks it. [`Caps::not_enabled`](crate::Caps::not_enabled)
    /// lists the features that the physical device has and this device was not created with. [`VulkanFeatures`] gives the
    /// application the names of extensions and the features to ask for.
    ///
    /// The application owns the instance, the device and the queue, before and after: this crate and wgpu create objects of
    /// their own on the device, destroy them, and destroy nothing else. As with [`Gpu::adopt`], rows of cooperative
    /// matrices that no earlier run has tested on this driver are tested in this call, which submits to the queue.
    ///
    /// # Safety
    /// - All handles are valid and belong together; versions, extensions and features are those that the instance and the
    ///   device were created with. A feature that the application has not enabled must not be claimed: a shader that uses
    ///   it may do anything. A feature that the *physical device* lacks is never used.
    /// - The instance and the device outlive this `Gpu`, all its clones, tensors, buffers and pending reads, and whatever
    ///   was made with [`Gpu::device`]. Drop these before the device is destroyed; [`VulkanAdapter::is_adopted`] returns
    ///   whether any of them still exists. On a lost device, a thread of this crate may hold the device for a moment longer,
    ///   and if the last drop happens in a callback of wgpu's, the thread that runs it does: there, wait until the function
    ///   returns false.
    /// - Vulkan allows only one thread at a time to use a queue. So while a call of this crate or of wgpu on this device
    ///   may run, no other thread uses the `VkQueue`, and none waits for the whole device. Calls on another `Gpu` that adopted
    ///   the queue use it too. A read that is pending on a thread of this crate only waits for fences; it does not use the
    ///   queue.
    /// - The last drop of this `Gpu`, its tensors and wgpu's handles is such a call: wgpu then waits until the queue is idle,
    ///   also for work of the application. So that work must wait only for signals from another thread, or for earlier ones.
    /// - If `robustBufferAccess` is not enabled, the condition of
    ///   [`BufferAccess::unchecked`](crate::gpu::BufferAccess::unchecked) holds for vertex and index buffers of the
    ///   application's own draws on [`Gpu::device`].
    ///
    /// # Errors
    /// [`Error::Input`] for a null handle, a queue that does not exist, or an environment variable with an invalid value;
    /// [`Error::Unsupported`] if the queue's family lacks graphics or compute, or a device of Vulkan 1.0 lacks an extension
    /// that nothing works without; [`Error::Device`] if the device is lost or wgpu refuses it.
    ///
    /// # Example
    /// The book's chapter *In an existing Vulkan application* and `examples/vulkan_app` show it whole.
    pub unsafe fn from_vulkan(vulkan: VulkanDevice<'_>) -> Result<Self> {
        // SAFETY: the caller guarantees what the call needs.
        unsafe { Self::from_vulkan_with(vulkan, AdoptOptions::from_env()?) }
    }

    /// As [`from_vulkan`](Self::from_vulkan), with these options. The only environment variables that this reads are those
    /// of the user's cache folder and of wgpu.
    ///
    /// # Safety
    /// As [`from_vulkan`](Self::from_vulkan).
    ///
    /// # Errors
    /// As [`from_vulkan`](Self::from_vulkan); [`Error::Input`] if the options have
    /// [`BufferAccess::unchecked`](crate::gpu::BufferAccess::unchecked), because the device is open already, or vouch for
    /// extensions that the device was not created with or whose features its driver lacks.
    pub unsafe fn from_vulkan_with(
        vulkan: VulkanDevice<'_>,
        options: impl Into<AdoptOptions>,
    ) -> Result<Self> {
        let AdoptOptions { mut options, polling, extensions } = options.into();
        BufferAccess::check_for_adopting(&options).named(OP)?;
        // SAFETY: the caller guarantees what the call needs.
        let OpenedDevice { adapter, device, queue, access, not_enabled } = unsafe { open(&vulkan)? };
        options.buffer_access = access;
        let extensions = extensions.check(OP, &adapter, &device)?;
        let device = Device::of_vulkan(&adapter, device, queue, polling, access, not_enabled, extensions);
        let (caps, verdicts) = device.tested(&options);
        device.assemble(caps, verdicts, None, options)
    }
}

/// An application's device as wgpu knows it.
struct OpenedDevice {
    adapter: wgpu::Adapter,
    device: wgpu::Device,
    queue: wgpu::Queue,
    /// Whether the application enabled `robustBufferAccess`.
    access: BufferAccess,
    /// See [`Caps::not_enabled`](crate::Caps::not_enabled).
    not_enabled: Vec<String>,
}

/// Gives wgpu the application's device.
///
/// # Safety
/// As [`Gpu::from_vulkan`].
unsafe fn open(vulkan: &VulkanDevice<'_>) -> Result<OpenedDevice> {
    // SAFETY: the caller guarantees the device.
    unsafe { vulkan.check()? };
    let adapter = &vulkan.adapter;
    // SAFETY: the caller guarantees the adapter, for as long as wgpu has its instance.
    let (version, entry, found) = unsafe {
        (
            adapter.device_version(),
            live::LiveInstance::add(adapter),
            VulkanFeatures::of_physical_device(adapter),
        )
    };
    let real = entry.real().clone();
    // SAFETY: the caller guarantees the adapter; the functions are those of its instance.
    let listed = unsafe { extensions::listed(adapter, &real.instance) };
    let enabled = extensions::enabled(vulkan.device_extensions);
    let mut present = extensions::present(&enabled, &listed, version);
    if let Some(missing) = needed_everywhere(&present) {
        return Err(Error::Unsupported {
            op: OP,
            needs: format!("the device extension {}, or Vulkan 1.1", missing.to_string_lossy()),
            device: "a device of Vulkan 1.0 without it".into(),
        });
    }
    let features = usable(vulkan.features, &found, &present);
    // SAFETY: the caller guarantees the adapter.
    let not_enabled = unsafe { not_enabled(adapter, &features, version) };
    // NOTE: wgpu takes the features of these two for granted where it finds the extension.
    present.retain(|&name| name != khr::cooperative_matrix::NAME || features.cooperative_matrix);
    present.retain(|&name| name != ash::ext::subgroup_size_control::NAME || features.subgroup_size_control);

    // SAFETY: the caller guarantees the instance.
    let functions = unsafe { told::instance(&real) };
    // SAFETY: as above.
    let device = unsafe { ash::Device::load(functions.fp_v1_0(), vulkan.device) };
    let told = Told {
        real,
        physical_device: adapter.physical_device,
        version,
        extensions: present.iter().map(|name| listing(name)).collect(),
        features: features.chain(),
        queue_family: vulkan.queue_family,
    };
    let refused = || Error::device("wgpu refuses this physical device; its log messages say why");
    let (instance, exposed) = told::while_told(told, || {
        let table = ash::StaticFn { get_instance_proc_addr: told::get_instance_proc_addr };
        // SAFETY: the function keeps Vulkan's rules. The instance belongs to it and outlives what wgpu makes of it, which the
        // caller guarantees; with a callback, wgpu does not destroy it.
        let instance = unsafe {
            Instance::from_raw(
                ash::Entry::from_static_fn(table),
                functions,
                adapter.api_version,
                0,
                None,
                instance_extensions(adapter),
                wgpu::InstanceFlags::from_build_config().with_env()
                    | wgpu::InstanceFlags::ALLOW_UNDERLYING_NONCOMPLIANT_ADAPTER,
                wgpu::MemoryBudgetThresholds::default(),
                false,
                Some(Box::new(move || drop(entry))),
            )
        };
        let instance = instance.map_err(Error::device)?;
        let mut exposed = instance.expose_adapter(adapter.physical_device).ok_or_else(refused)?;
        // NOTE: wgpu takes lavapipe for unable to convert f16 in shaders (`pack2x16float`) if it sees no arithmetic in f16.
        // What counts is the driver's compiler, not what the device was created with. All other drivers can.
        if found.shader_float16 {
            exposed.capabilities.downlevel.flags |= wgpu::DownlevelFlags::SHADER_F16_IN_F32;
        }
        lower_for_indirect_calls(&mut exposed.capabilities.limits);
        Ok::<_, Error>((instance, exposed))
    })?;
    // SAFETY: the instance is valid, and the adapter was made by it.
    let adapter = unsafe {
        let instance = wgpu::Instance::from_hal::<Api>(instance);
        instance.create_adapter_from_hal::<Api>(exposed)
    };
    let desc = Gpu::device_descriptor(&adapter);
    // SAFETY: the handle is used while the adapter is alive.
    let hal = unsafe { adapter.as_hal::<Api>() }.ok_or_else(refused)?;
    // SAFETY: the device was created on this physical device, with this queue and these extensions, and with the features that
    // wgpu knows of, which the caller guarantees. It outlives what wgpu makes of it; with a callback, wgpu does not destroy it.
    let opened = unsafe {
        hal.device_from_raw(
            device,
            Some(Box::new(|| ())),
            &enabled,
            desc.required_features,
            &desc.required_limits,
            &desc.memory_hints,
            vulkan.queue_family,
            vulkan.queue_index,
        )
    };
    drop(hal);
    let opened = opened.map_err(Error::device)?;
    // SAFETY: the device was created on this adapter, with the features and limits of `desc`.
    let (device, queue) = unsafe { adapter.create_device_from_hal(opened, &desc) }.map_err(Error::device)?;
    let access = BufferAccess { is_unchecked: features.core.robust_buffer_access == vk::FALSE };
    Ok(OpenedDevice { adapter, device, queue, access, not_enabled })
}

/// Sizes that wgpu's check of indirect calls can count in 32 bits. wgpu lowers them itself for the adapters that it lists, and
/// not for one that it is given; it then panics where a driver cannot say how large a buffer may be.
fn lower_for_indirect_calls(limits: &mut wgpu::Limits) {
    let most = u64::from(u32::MAX);
    limits.max_buffer_size = limits.max_buffer_size.min(most);
    limits.max_uniform_buffer_binding_size = limits.max_uniform_buffer_binding_size.min(most);
    limits.max_storage_buffer_binding_size = limits.max_storage_buffer_binding_size.min(most & !3); // whole words
}

/// An extension that wgpu never works without, and that this device lacks.
fn needed_everywhere(present: &[&'static CStr]) -> Option<&'static CStr> {
    [khr::maintenance1::NAME, khr::storage_buffer_storage_class::NAME]
        .into_iter()
        .find(|needed| !present.contains(needed))
}

/// The features that may be used: enabled by the application, in the physical device, and with their extension.
fn usable(enabled: VulkanFeatures, found: &VulkanFeatures, present: &[&'static CStr]) -> VulkanFeatures {
    enabled.chain().both(&mut found.chain(), |extension| present.contains(&extension)).features()
}

/// The features that the physical device has and the application's device was not created with, if this crate would use
/// them.
///
/// # Safety
/// As [`VulkanAdapter::device_version`].
unsafe fn not_enabled(adapter: &VulkanAdapter<'_>, features: &VulkanFeatures, version: u32) -> Vec<String> {
    let extension = khr::get_physical_device_properties2::NAME;
    if adapter.api_version < vk::API_VERSION_1_1 && !adapter.instance_extensions.contains(&extension) {
        return vec![format!("{} (of the instance)", extension.to_string_lossy())];
    }
    // SAFETY: the caller guarantees the adapter.
    let (supported, instance) = unsafe { (VulkanFeatures::supported(adapter), adapter.load()) };
    // SAFETY: as above.
    let properties = unsafe { instance.get_physical_device_properties(adapter.physical_device) };
    let is_too_old = version < vk::API_VERSION_1_1 && properties.api_version >= vk::API_VERSION_1_1;
    let version_1_1 = is_too_old.then(|| "Vulkan 1.1 (of the instance)".to_owned());
    let missing = |name: &str, extension: Option<&CStr>, has: bool, could: bool| {
        let extension = extension.filter(|extension| !extensions::is_core(extension, version));
        let of = extension.map_or(String::new(), |name| format!(" ({})", name.to_string_lossy()));
        (could && !has).then(|| format!("{name}{of}"))
    };
    supported
        .named()
        .into_iter()
        .zip(features.named())
        .filter_map(|((name, extension, could), (_, _, has))| missing(name, extension, has, could))
        .chain(version_1_1)
        .collect()
}

/// The instance extensions that wgpu looks for, as far as the application enabled them. wgpu reads most of what a physical
/// device has through the first one, which Vulkan 1.1 has taken over.
fn instance_extensions(adapter: &VulkanAdapter<'_>) -> Vec<&'static CStr> {
    let properties2 = khr::get_physical_device_properties2::NAME;
    let has = |name: &CStr| {
        adapter.instance_extensions.contains(&name)
            || name == properties2 && adapter.api_version >= vk::API_VERSION_1_1
    };
    [properties2, ash::ext::debug_utils::NAME].into_iter().filter(|name| has(name)).collect()
}

/// An extension as a physical device lists it.
fn listing(name: &CStr) -> vk::ExtensionProperties {
    let mut properties = vk::ExtensionProperties { spec_version: 1, ..Default::default() };
    for (to, from) in properties.extension_name.iter_mut().zip(name.to_bytes()) {
        *to = *from as std::ffi::c_char;
    }
    properties
}
