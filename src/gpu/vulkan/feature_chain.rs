//! Vulkan's structs of the features of a device, as a chain.

use super::features::VulkanFeatures;
use ash::{ext, khr, vk};
use std::ffi::CStr;
use std::marker::PhantomData;
use std::ptr;

/// Vulkan's structs of [`VulkanFeatures`], with which an application creates its device.
///
/// An application that has `VkPhysicalDeviceVulkan11Features` and the like in its own chain sets these features there
/// instead, because Vulkan allows each feature only once.
#[derive(Clone, Copy, Default)]
pub struct VulkanFeatureChain {
    pub(super) core: vk::PhysicalDeviceFeatures,
    pub(super) storage16: vk::PhysicalDevice16BitStorageFeatures<'static>,
    pub(super) float16_int8: vk::PhysicalDeviceShaderFloat16Int8Features<'static>,
    pub(super) dot: vk::PhysicalDeviceShaderIntegerDotProductFeatures<'static>,
    pub(super) subgroups: vk::PhysicalDeviceSubgroupSizeControlFeatures<'static>,
    pub(super) matrix: vk::PhysicalDeviceCooperativeMatrixFeaturesKHR<'static>,
    pub(super) memory_model: vk::PhysicalDeviceVulkanMemoryModelFeatures<'static>,
    pub(super) timeline: vk::PhysicalDeviceTimelineSemaphoreFeatures<'static>,
    pub(super) zeros: vk::PhysicalDeviceZeroInitializeWorkgroupMemoryFeatures<'static>,
    pub(super) robustness2: vk::PhysicalDeviceRobustness2FeaturesEXT<'static>,
    pub(super) image_robustness: vk::PhysicalDeviceImageRobustnessFeatures<'static>,
}

impl VulkanFeatures {
    /// Vulkan's structs of these features, for the creation of a device.
    #[must_use]
    pub fn chain(&self) -> VulkanFeatureChain {
        let mut chain = VulkanFeatureChain { core: self.core, ..Default::default() };
        for (bool, feature) in chain.bools(&mut self.clone()) {
            *bool = vk::Bool32::from(*feature);
        }
        chain
    }
}

impl VulkanFeatureChain {
    /// Adds the structs with an enabled feature to the front of `info`'s `pNext` chain, which has none of them yet, and
    /// sets `pEnabledFeatures`.
    pub fn push_to<'a>(&'a mut self, mut info: vk::DeviceCreateInfo<'a>) -> vk::DeviceCreateInfo<'a> {
        for node in self.nodes() {
            if node.is_used() {
                // SAFETY: the struct is borrowed for as long as `info` lives, and nothing else refers to it.
                unsafe { (*node.head).p_next = info.p_next.cast_mut().cast() };
                info.p_next = node.head.cast();
            }
        }
        info.enabled_features(&self.core)
    }

    /// Links the structs that `is_wanted` selects, and returns the first. The others are not changed.
    pub(super) fn linked(
        &mut self,
        is_wanted: impl Fn(&ChainStruct<'_>) -> bool,
    ) -> *mut vk::BaseOutStructure<'static> {
        let mut next = ptr::null_mut();
        for node in self.nodes().into_iter().filter(is_wanted) {
            // SAFETY: the struct is borrowed here.
            unsafe { (*node.head).p_next = next };
            next = node.head;
        }
        next
    }

    /// Writes the features into those structs of another chain that this one has too. All other structs of that chain keep
    /// their values.
    ///
    /// # Safety
    /// `next` is null or the first struct of a valid chain that nothing else refers to.
    pub(super) unsafe fn answer(&mut self, mut next: *mut vk::BaseOutStructure<'static>) {
        let nodes = self.nodes();
        while !next.is_null() {
            // SAFETY: the caller guarantees a valid chain.
            let asked = unsafe { &*next };
            for node in &nodes {
                // SAFETY: this chain is borrowed. Structs with the same type have the same bools behind the same head.
                unsafe {
                    if (*node.head).s_type == asked.s_type {
                        let to = next.add(1).cast::<vk::Bool32>();
                        to.copy_from_nonoverlapping(node.head.add(1).cast(), node.len);
                    }
                }
            }
            next = asked.p_next;
        }
    }

    /// The features that both chains have, of the structs whose extension `is_present`.
    pub(super) fn both(mut self, other: &mut Self, is_present: impl Fn(&CStr) -> bool) -> Self {
        for (mut node, mut other) in self.nodes().into_iter().zip(other.nodes()) {
            let is_present = is_present(node.extension);
            for (bool, other) in node.bools_mut().iter_mut().zip(other.bools_mut()) {
                *bool = vk::Bool32::from(is_present && *bool != vk::FALSE && *other != vk::FALSE);
            }
        }
        for (bool, other) in core_bools(&mut self.core).iter_mut().zip(core_bools(&mut other.core)) {
            *bool = vk::Bool32::from(*bool != vk::FALSE && *other != vk::FALSE);
        }
        self
    }

    /// The features of the structs.
    pub(super) fn features(mut self) -> VulkanFeatures {
        let mut features = VulkanFeatures { core: self.core, ..Default::default() };
        for (bool, feature) in self.bools(&mut features) {
            *feature = *bool != vk::FALSE;
        }
        features
    }

    /// Each bool of the structs that is a feature, with that feature.
    fn bools<'a>(&'a mut self, of: &'a mut VulkanFeatures) -> [(&'a mut vk::Bool32, &'a mut bool); 14] {
        let (storage16, float16_int8) = (&mut self.storage16, &mut self.float16_int8);
        let (model, robustness2) = (&mut self.memory_model, &mut self.robustness2);
        [
            (&mut storage16.storage_buffer16_bit_access, &mut of.storage_buffer16_bit_access),
            (
                &mut storage16.uniform_and_storage_buffer16_bit_access,
                &mut of.uniform_and_storage_buffer16_bit_access,
            ),
            (&mut float16_int8.shader_float16, &mut of.shader_float16),
            (&mut float16_int8.shader_int8, &mut of.shader_int8),
            (&mut self.dot.shader_integer_dot_product, &mut of.shader_integer_dot_product),
            (&mut self.subgroups.subgroup_size_control, &mut of.subgroup_size_control),
            (&mut self.matrix.cooperative_matrix, &mut of.cooperative_matrix),
            (&mut model.vulkan_memory_model, &mut of.vulkan_memory_model),
            (&mut model.vulkan_memory_model_device_scope, &mut of.vulkan_memory_model_device_scope),
            (&mut self.timeline.timeline_semaphore, &mut of.timeline_semaphore),
            (
                &mut self.zeros.shader_zero_initialize_workgroup_memory,
                &mut of.shader_zero_initialize_workgroup_memory,
            ),
            (&mut robustness2.robust_buffer_access2, &mut of.robust_buffer_access2),
            (&mut robustness2.robust_image_access2, &mut of.robust_image_access2),
            (&mut self.image_robustness.robust_image_access, &mut of.robust_image_access),
        ]
    }

    pub(super) fn nodes(&mut self) -> [ChainStruct<'_>; 10] {
        [
            ChainStruct::new(khr::_16bit_storage::NAME, &mut self.storage16, 4),
            ChainStruct::new(khr::shader_float16_int8::NAME, &mut self.float16_int8, 2),
            ChainStruct::new(khr::shader_integer_dot_product::NAME, &mut self.dot, 1),
            ChainStruct::new(ext::subgroup_size_control::NAME, &mut self.subgroups, 2),
            ChainStruct::new(khr::cooperative_matrix::NAME, &mut self.matrix, 2),
            ChainStruct::new(khr::vulkan_memory_model::NAME, &mut self.memory_model, 3),
            ChainStruct::new(khr::timeline_semaphore::NAME, &mut self.timeline, 1),
            ChainStruct::new(khr::zero_initialize_workgroup_memory::NAME, &mut self.zeros, 1),
            ChainStruct::new(ext::robustness2::NAME, &mut self.robustness2, 3),
            ChainStruct::new(ext::image_robustness::NAME, &mut self.image_robustness, 1),
        ]
    }
}

/// A struct of a chain. Every one is a head and then only bools.
pub(super) struct ChainStruct<'a> {
    /// The extension that brought the struct.
    pub(super) extension: &'static CStr,
    head: *mut vk::BaseOutStructure<'static>,
    /// Number of bools.
    len: usize,
    borrowed: PhantomData<&'a mut VulkanFeatureChain>,
}

impl<'a> ChainStruct<'a> {
    /// `of` has `len` bools behind its head.
    fn new<T>(extension: &'static CStr, of: &'a mut T, len: usize) -> Self {
        debug_assert!(size_of::<T>() >= size_of::<vk::BaseOutStructure<'_>>() + 4 * len);
        Self { extension, head: ptr::from_mut(of).cast(), len, borrowed: PhantomData }
    }

    /// Whether a feature is enabled.
    pub(super) fn is_used(&self) -> bool {
        self.bools().contains(&vk::TRUE)
    }

    fn bools(&self) -> &[vk::Bool32] {
        // SAFETY: `new` borrowed a struct with this number of bools behind its head.
        unsafe { std::slice::from_raw_parts(self.head.add(1).cast::<vk::Bool32>(), self.len) }
    }

    fn bools_mut(&mut self) -> &mut [vk::Bool32] {
        // SAFETY: as above; the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.head.add(1).cast::<vk::Bool32>(), self.len) }
    }
}

/// The features of Vulkan 1.0 as a list.
fn core_bools(core: &mut vk::PhysicalDeviceFeatures) -> &mut [vk::Bool32] {
    let len = size_of::<vk::PhysicalDeviceFeatures>() / size_of::<vk::Bool32>();
    // SAFETY: Vulkan's struct has bools only.
    unsafe { std::slice::from_raw_parts_mut(ptr::from_mut(core).cast(), len) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All features of which the struct's size in a chain is known, in an order that tells them apart.
    fn every_second() -> VulkanFeatures {
        let mut chain = VulkanFeatureChain::default();
        for (at, mut node) in chain.nodes().into_iter().enumerate() {
            node.bools_mut()[0] = vk::Bool32::from(at % 2 == 0);
        }
        chain.core.shader_int64 = vk::TRUE;
        chain.features()
    }

    #[test]
    fn features_and_structs_are_the_same() {
        let features = every_second();
        assert_eq!(format!("{:?}", features.chain().features()), format!("{features:?}"));
        let names = features.required_extensions(vk::API_VERSION_1_3);
        assert_eq!(names, [khr::cooperative_matrix::NAME, ext::robustness2::NAME]);
        let names = features.required_extensions(vk::API_VERSION_1_0);
        assert_eq!(names.len(), 2 + 5, "{names:?}");
    }

    #[test]
    fn both_keeps_what_both_have_and_whose_extension_is_present() {
        let (mut all, features) = (VulkanFeatureChain::default(), every_second());
        all.nodes().iter_mut().for_each(|node| node.bools_mut().fill(vk::TRUE));
        core_bools(&mut all.core).fill(vk::TRUE);
        let both = features.chain().both(&mut all, |_| true).features();
        assert_eq!(format!("{both:?}"), format!("{features:?}"));
        let none = features.chain().both(&mut VulkanFeatureChain::default(), |_| true).features();
        assert_eq!(format!("{none:?}"), format!("{:?}", VulkanFeatures::default()));
        let without = all.both(&mut features.chain(), |name| name != khr::_16bit_storage::NAME).features();
        assert!(features.storage_buffer16_bit_access && !without.storage_buffer16_bit_access);
    }

    #[test]
    fn an_answer_changes_the_structs_that_it_knows() {
        let mut chain = VulkanFeatureChain::default();
        chain.float16_int8.shader_float16 = vk::TRUE;
        let mut asked = vk::PhysicalDeviceShaderFloat16Int8Features::default().shader_int8(true);
        let mut unknown = vk::PhysicalDeviceMultiviewFeatures::default().multiview(true);
        let mut head = vk::PhysicalDeviceFeatures2::default().push_next(&mut asked).push_next(&mut unknown);
        // SAFETY: the chain is valid and borrowed.
        unsafe { chain.answer(std::mem::take(&mut head.p_next).cast()) };
        assert_eq!([asked.shader_float16, asked.shader_int8, unknown.multiview], [1, 0, 1]);
    }

    #[test]
    fn a_chain_goes_before_the_applications_own() {
        let mut own = vk::PhysicalDeviceMultiviewFeatures::default();
        let mut chain = every_second().chain();
        let info = chain.push_to(vk::DeviceCreateInfo::default().push_next(&mut own));
        let (mut types, mut next) = (Vec::new(), info.p_next.cast::<vk::BaseInStructure<'_>>());
        while !next.is_null() {
            // SAFETY: the chain is valid and borrowed.
            unsafe { (types.push((*next).s_type), next = (*next).p_next) };
        }
        assert_eq!(types.len(), 6, "{types:?}");
        assert_eq!(types[5], vk::StructureType::PHYSICAL_DEVICE_MULTIVIEW_FEATURES);
    }
}
