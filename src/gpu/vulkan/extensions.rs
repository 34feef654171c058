//! The extensions that wgpu's Vulkan backend and this crate know, and the versions of Vulkan that include them.

use super::adapter::VulkanAdapter;
use crate::gpu::extensions::{BFLOAT16, FLOAT8, MAINTENANCE1, MATRIX2, STORAGE8};
use ash::{ext, khr, vk};
use std::ffi::CStr;

/// Device extensions and the version of Vulkan that has each without being asked.
const KNOWN: [(&CStr, Option<u32>); 27] = [
    (khr::maintenance1::NAME, Some(vk::API_VERSION_1_1)),
    (khr::maintenance2::NAME, Some(vk::API_VERSION_1_1)),
    (khr::maintenance3::NAME, Some(vk::API_VERSION_1_1)),
    (khr::storage_buffer_storage_class::NAME, Some(vk::API_VERSION_1_1)),
    (khr::_16bit_storage::NAME, Some(vk::API_VERSION_1_1)),
    (khr::image_format_list::NAME, Some(vk::API_VERSION_1_2)),
    (khr::driver_properties::NAME, Some(vk::API_VERSION_1_2)),
    (khr::timeline_semaphore::NAME, Some(vk::API_VERSION_1_2)),
    (khr::shader_float16_int8::NAME, Some(vk::API_VERSION_1_2)),
    (khr::vulkan_memory_model::NAME, Some(vk::API_VERSION_1_2)),
    (khr::maintenance4::NAME, Some(vk::API_VERSION_1_3)),
    (ext::image_robustness::NAME, Some(vk::API_VERSION_1_3)),
    (ext::subgroup_size_control::NAME, Some(vk::API_VERSION_1_3)),
    (khr::zero_initialize_workgroup_memory::NAME, Some(vk::API_VERSION_1_3)),
    (khr::shader_integer_dot_product::NAME, Some(vk::API_VERSION_1_3)),
    (ext::robustness2::NAME, None),
    (khr::cooperative_matrix::NAME, None),
    (ext::memory_budget::NAME, None),
    (ext::pci_bus_info::NAME, None),
    (khr::swapchain::NAME, None),
    (khr::swapchain_mutable_format::NAME, None),
    (khr::draw_indirect_count::NAME, None),
    (STORAGE8, Some(vk::API_VERSION_1_2)),
    (MATRIX2, None),
    (MAINTENANCE1, None),
    (BFLOAT16, None),
    (FLOAT8, None),
];

/// Extensions that only describe a physical device. Their structs may be read whether or not a device enables them.
const DESCRIPTIVE: [&CStr; 3] =
    [khr::driver_properties::NAME, khr::maintenance3::NAME, ext::pci_bus_info::NAME];

/// Whether a device of this version has the extension without being asked.
pub(super) fn is_core(extension: &CStr, version: u32) -> bool {
    KNOWN.iter().any(|&(name, since)| name == extension && since.is_some_and(|since| since <= version))
}

/// The extensions that the application enabled, as far as wgpu knows them.
pub(super) fn enabled(names: &[&CStr]) -> Vec<&'static CStr> {
    KNOWN.iter().map(|&(name, _)| name).filter(|name| names.contains(name)).collect()
}

/// The extensions that a device has: `enabled`, those that its version took over, and those that only describe the
/// physical device, as far as that lists them.
pub(super) fn present(enabled: &[&CStr], listed: &[&CStr], version: u32) -> Vec<&'static CStr> {
    let described = |name: &CStr| DESCRIPTIVE.contains(&name) && listed.contains(&name);
    let has = |name: &CStr| enabled.contains(&name) || is_core(name, version) || described(name);
    KNOWN.iter().map(|&(name, _)| name).filter(|name| has(name)).collect()
}

/// The extensions that the physical device lists, as far as wgpu knows them.
///
/// # Safety
/// As [`VulkanAdapter::device_version`]; `instance` has the functions of that instance.
pub(super) unsafe fn listed(adapter: &VulkanAdapter<'_>, instance: &ash::Instance) -> Vec<&'static CStr> {
    // SAFETY: the caller guarantees the physical device. A driver that fails here lists nothing.
    let found = unsafe { instance.enumerate_device_extension_properties(adapter.physical_device) };
    let found = found.unwrap_or_default();
    let names: Vec<&CStr> = found.iter().filter_map(|found| found.extension_name_as_c_str().ok()).collect();
    enabled(&names)
}

/// The extensions that a device of the physical device can have: listed, or taken over by its version.
///
/// # Safety
/// As [`listed`].
pub(super) unsafe fn usable(adapter: &VulkanAdapter<'_>, instance: &ash::Instance) -> Vec<&'static CStr> {
    // SAFETY: the caller guarantees the adapter and the instance.
    let (mut listed, version) = unsafe { (listed(adapter, instance), adapter.device_version()) };
    // NOTE: the first needs Vulkan 1.1, though the physical device lists it, and the second is of no use without the first.
    let needs_1_1 = [ext::subgroup_size_control::NAME, khr::cooperative_matrix::NAME];
    listed.retain(|name| version >= vk::API_VERSION_1_1 || !needs_1_1.contains(name));
    present(&listed, &listed, version)
}
