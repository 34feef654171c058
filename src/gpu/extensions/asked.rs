//! Queries to a Vulkan driver that wgpu does not make.

use super::features::{MatrixFeatures, names};
use super::matrices::ListedMatrices;
use super::{flexible, rows};
use crate::caps::{CoopRow, CoopScope, MatrixExtensions};
use ash::vk;
use wgpu::hal::vulkan::{Api, Device};

/// The rows of cooperative matrices that the adapter's driver lists, and those of flexible size if they are enabled. Rows of a
/// workgroup are included only if the driver has tensor layouts, which kernels on these rows use. None if the API is not Vulkan.
pub(in crate::gpu) fn matrices(adapter: &wgpu::Adapter, enabled: MatrixExtensions) -> Option<ListedMatrices> {
    // SAFETY: the handle is only read, while the adapter is alive.
    let hal = unsafe { adapter.as_hal::<Api>() }?;
    let mut rows = rows::rows(&hal);
    if enabled.flexible {
        let has_workgroup = MatrixFeatures::reported(&hal, true).has_workgroup_matrices();
        let is_usable = |row: &CoopRow| row.scope == CoopScope::Subgroup || has_workgroup;
        rows.extend(flexible::flexible_rows(&hal).into_iter().filter(is_usable));
    }
    let flexible_limits = enabled.flexible.then(|| flexible::flexible_limits(&hal));
    Some(ListedMatrices { rows, flexible_limits })
}

/// The features that wgpu does not know, of a device that is opened from this adapter with these features of wgpu.
pub(in crate::gpu) fn matrix_features(adapter: &wgpu::Adapter, features: wgpu::Features) -> MatrixFeatures {
    // SAFETY: as above.
    let hal = unsafe { adapter.as_hal::<Api>() };
    let has_matrices = features.contains(wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX);
    hal.map_or_else(MatrixFeatures::default, |hal| MatrixFeatures::reported(&hal, has_matrices))
}

/// Which of these extensions an open device was not created with. `storageBuffer8BitAccess` needs none from Vulkan 1.2 on.
pub(in crate::gpu) fn not_created_with(
    device: &wgpu::Device,
    extensions: MatrixExtensions,
) -> Vec<&'static str> {
    // SAFETY: the handle is only read, while the device is alive.
    let hal = unsafe { device.as_hal::<Api>() };
    let hal = hal.as_deref();
    let enabled = hal.map_or(&[][..], Device::enabled_device_extensions);
    let is_core = |name| {
        name == ash::khr::_8bit_storage::NAME && hal.is_some_and(|hal| version(hal) >= vk::API_VERSION_1_2)
    };
    let missing = names(extensions).into_iter().filter(|name| !enabled.contains(name) && !is_core(*name));
    missing.filter_map(|name| name.to_str().ok()).collect()
}

/// The newest version of Vulkan that a device can have.
fn version(hal: &Device) -> u32 {
    let instance = hal.shared_instance();
    // SAFETY: the physical device comes from that instance.
    let properties =
        unsafe { instance.raw_instance().get_physical_device_properties(hal.raw_physical_device()) };
    properties.api_version.min(instance.instance_api_version())
}
