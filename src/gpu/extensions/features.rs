//! Features of cooperative matrices that wgpu does not know: those of a driver, and the structs that enable them on a
//! device.

use super::structs::{Bfloat16Features, Float8Features, Maintenance1Features, Matrix2Features};
use crate::caps::{HAS_MODULES, MatrixExtensions};
use ash::{khr, vk};
use std::ffi::CStr;
use wgpu::hal::vulkan::Adapter;

pub(in crate::gpu) const MATRIX2: &CStr = c"VK_NV_cooperative_matrix2";
pub(in crate::gpu) const MAINTENANCE1: &CStr = c"VK_EXT_cooperative_matrix_maintenance1";
pub(in crate::gpu) const BFLOAT16: &CStr = c"VK_KHR_shader_bfloat16";
pub(in crate::gpu) const FLOAT8: &CStr = c"VK_EXT_shader_float8";
pub(in crate::gpu) const STORAGE8: &CStr = khr::_8bit_storage::NAME;

/// Vulkan's structs of these features. wgpu chains none of them. A feature that is off is not enabled.
#[derive(Clone, Copy, Default)]
pub(in crate::gpu) struct MatrixFeatures {
    matrix2: Matrix2Features,
    maintenance1: Maintenance1Features,
    bfloat16: Bfloat16Features,
    float8: Float8Features,
    storage8: vk::PhysicalDevice8BitStorageFeatures<'static>,
}

impl MatrixFeatures {
    /// The features of the driver: for each extension that it lists, the features that it reports, if they include those that
    /// kernels require. Without cooperative matrices on the device (`has_matrices`), only the features that do not need them.
    pub(super) fn reported(hal: &Adapter, has_matrices: bool) -> Self {
        let shared = hal.shared_instance();
        if !HAS_MODULES || shared.instance_api_version() < vk::API_VERSION_1_1 {
            return Self::default(); // without Vulkan 1.1 there is no function that says so
        }
        let mut found = Self::default();
        let listed = hal.physical_device_capabilities();
        let lists = |name| listed.supports_extension(name);
        let mut features = vk::PhysicalDeviceFeatures2::default();
        // Its modules have the version of SPIR-V that Vulkan 1.3 accepts.
        let version = shared.instance_api_version().min(listed.properties().api_version);
        if lists(MATRIX2) && has_matrices && version >= vk::API_VERSION_1_3 {
            features = features.push_next(&mut found.matrix2);
        }
        if lists(MAINTENANCE1) && has_matrices {
            features = features.push_next(&mut found.maintenance1);
        }
        if lists(BFLOAT16) && has_matrices {
            features = features.push_next(&mut found.bfloat16);
        }
        if lists(FLOAT8) && has_matrices {
            features = features.push_next(&mut found.float8);
        }
        if lists(STORAGE8) {
            features = features.push_next(&mut found.storage8);
        }
        let instance = shared.raw_instance();
        // SAFETY: the physical device comes from that instance. All structs of the chain live until the call returns.
        unsafe { instance.get_physical_device_features2(hal.raw_physical_device(), &mut features) };
        Self {
            matrix2: found.matrix2.if_it_has(&[1, 2, 3, 4]),
            maintenance1: found.maintenance1.if_it_has(&[1, 2, 3]),
            bfloat16: found.bfloat16.if_it_has(&[0, 2]),
            float8: found.float8.if_it_has(&[0, 1]),
            // Only the features of this extension that kernels use.
            storage8: vk::PhysicalDevice8BitStorageFeatures::default()
                .storage_buffer8_bit_access(found.storage8.storage_buffer8_bit_access == vk::TRUE),
        }
    }

    /// Whether a workgroup can hold matrices and load them through tensor layouts.
    pub(super) fn has_workgroup_matrices(&self) -> bool {
        self.matrix2.if_it_has(&[0, 5]).is_used()
    }

    /// The same as plain data.
    pub(in crate::gpu) fn extensions(&self) -> MatrixExtensions {
        MatrixExtensions {
            flexible: self.matrix2.is_used(),
            maintenance1: self.maintenance1.is_used(),
            bfloat16: self.bfloat16.is_used(),
            float8: self.float8.is_used(),
            storage8: self.storage8.storage_buffer8_bit_access == vk::TRUE,
        }
    }

    /// The extensions to enable.
    pub(in crate::gpu) fn names(&self) -> Vec<&'static CStr> {
        names(self.extensions())
    }

    /// Adds the structs with a feature that is on to the chain.
    pub(in crate::gpu) fn push_to<'a>(
        &'a mut self,
        mut info: vk::DeviceCreateInfo<'a>,
    ) -> vk::DeviceCreateInfo<'a> {
        let MatrixExtensions { flexible, maintenance1, bfloat16, float8, storage8 } = self.extensions();
        if flexible {
            info = info.push_next(&mut self.matrix2);
        }
        if maintenance1 {
            info = info.push_next(&mut self.maintenance1);
        }
        if bfloat16 {
            info = info.push_next(&mut self.bfloat16);
        }
        if float8 {
            info = info.push_next(&mut self.float8);
        }
        if storage8 {
            info = info.push_next(&mut self.storage8);
        }
        info
    }
}

/// The names of these extensions.
pub(super) fn names(extensions: MatrixExtensions) -> Vec<&'static CStr> {
    let names = [MATRIX2, MAINTENANCE1, BFLOAT16, FLOAT8, STORAGE8];
    let named = names.into_iter().zip(extensions.named());
    named.filter_map(|(name, (_, has))| has.then_some(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_extension_has_one_name() {
        let all = MatrixExtensions {
            flexible: true,
            maintenance1: true,
            bfloat16: true,
            float8: true,
            storage8: true,
        };
        let names = names(all).into_iter().map(|name| name.to_str().unwrap()).collect::<Vec<_>>();
        assert_eq!(names, all.named().map(|(name, _)| name));
        assert_eq!(names.join(", "), all.to_string());
        assert!(super::names(MatrixExtensions::default()).is_empty());
    }
}
