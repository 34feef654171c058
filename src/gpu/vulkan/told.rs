//! The answers that wgpu gets about a physical device: only the features that the application's device was created
//! with.
//!
//! wgpu's Vulkan backend reads an adapter from the *physical device* and assumes that a device has all of its features. A
//! device that an application created may have less. So wgpu gets an `ash::Instance` and an `ash::Entry` in which the
//! functions that read a physical device are replaced by those of this file. While [`while_told`] runs on a thread, they
//! answer from a [`Told`] of that thread. At any other time they only pass calls on to the application's real functions,
//! which [`live`](super::live) finds.

use super::feature_chain::VulkanFeatureChain;
use super::live::{self, InstanceFunctions};
use ash::vk;
use std::cell::RefCell;
use std::ffi::{CStr, c_char};
use std::mem::transmute;
use std::rc::Rc;
use std::sync::Arc;

/// The answers to wgpu's questions about a physical device.
pub(super) struct Told {
    pub(super) real: Arc<InstanceFunctions>,
    pub(super) physical_device: vk::PhysicalDevice,
    /// The version of Vulkan that the device has.
    pub(super) version: u32,
    pub(super) extensions: Vec<vk::ExtensionProperties>,
    pub(super) features: VulkanFeatureChain,
    /// The family of the shared queue. wgpu looks at the first family only, so this one trades places with it.
    pub(super) queue_family: u32,
}

thread_local! {
    static TOLD: RefCell<Option<Rc<Told>>> = const { RefCell::new(None) };
}

/// Runs `work`, in which wgpu is told this.
pub(super) fn while_told<R>(told: Told, work: impl FnOnce() -> R) -> R {
    /// Restores the previous answers, even if `work` panics. There are some if wgpu's log messages make the application
    /// adopt another device.
    struct Restore(Option<Rc<Told>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            TOLD.set(self.0.take());
        }
    }
    let _restore = Restore(TOLD.replace(Some(Rc::new(told))));
    work()
}

/// This thread's answers about this physical device.
fn told(physical_device: vk::PhysicalDevice) -> Option<Rc<Told>> {
    TOLD.with_borrow(|told| told.clone()).filter(|told| told.physical_device == physical_device)
}

/// A function of any type, as Vulkan passes it.
type Address = unsafe extern "system" fn();

/// A name with the address of its replacement.
type Replacement = (&'static CStr, Address);

/// The functions that are replaced.
fn replacements() -> [Replacement; 8] {
    // SAFETY: Vulkan passes every function as one of this type; whoever calls it casts it back.
    unsafe {
        [
            (
                c"vkEnumerateDeviceExtensionProperties",
                transmute::<vk::PFN_vkEnumerateDeviceExtensionProperties, Address>(enumerate_extensions),
            ),
            (
                c"vkGetPhysicalDeviceProperties",
                transmute::<vk::PFN_vkGetPhysicalDeviceProperties, Address>(get_properties),
            ),
            (
                c"vkGetPhysicalDeviceFeatures",
                transmute::<vk::PFN_vkGetPhysicalDeviceFeatures, Address>(get_features),
            ),
            (
                c"vkGetPhysicalDeviceQueueFamilyProperties",
                transmute::<vk::PFN_vkGetPhysicalDeviceQueueFamilyProperties, Address>(get_queue_families),
            ),
            (
                c"vkGetPhysicalDeviceFeatures2",
                transmute::<vk::PFN_vkGetPhysicalDeviceFeatures2, Address>(get_features2),
            ),
            (
                c"vkGetPhysicalDeviceFeatures2KHR",
                transmute::<vk::PFN_vkGetPhysicalDeviceFeatures2, Address>(get_features2),
            ),
            (
                c"vkGetPhysicalDeviceProperties2",
                transmute::<vk::PFN_vkGetPhysicalDeviceProperties2, Address>(get_properties2),
            ),
            (
                c"vkGetPhysicalDeviceProperties2KHR",
                transmute::<vk::PFN_vkGetPhysicalDeviceProperties2, Address>(get_properties2),
            ),
        ]
    }
}

/// The address of a function that wgpu gets under this name.
///
/// # Safety
/// `instance` is null or one of the functions `real`, which are alive.
unsafe fn address(real: &InstanceFunctions, instance: vk::Instance, name: &CStr) -> vk::PFN_vkVoidFunction {
    if let Some((_, replacement)) = replacements().into_iter().find(|(replaced, _)| *replaced == name) {
        return Some(replacement);
    }
    // SAFETY: the caller guarantees the instance; the name ends with a zero.
    let find = |name: &CStr| unsafe { (real.get_instance_proc_addr)(instance, name.as_ptr()) };
    // NOTE: wgpu knows the functions of VK_KHR_get_physical_device_properties2 only under their names in the extension. An
    // instance for Vulkan 1.1 without the extension has them under their names in Vulkan 1.1. They are the same.
    let in_core = || {
        let core = name.to_bytes().strip_suffix(b"KHR")?;
        let is_of_extension = core.starts_with(b"vkGetPhysicalDevice") && core.ends_with(b"2");
        let core = std::ffi::CString::new(core).ok().filter(|_| is_of_extension)?;
        find(&core)
    };
    find(name).or_else(in_core)
}

/// The functions of the application's instance, some of them replaced.
///
/// # Safety
/// As [`VulkanAdapter::device_version`](super::VulkanAdapter::device_version), for as long as the result is used.
pub(super) unsafe fn instance(real: &InstanceFunctions) -> ash::Instance {
    let handle = real.instance.handle();
    // SAFETY: the caller guarantees the instance. A missing function is null, which `ash` expects.
    unsafe {
        ash::Instance::load_with(
            |name| address(real, handle, name).map_or(std::ptr::null(), |address| address as *const _),
            handle,
        )
    }
}

/// The function that wgpu loads all others with.
pub(super) unsafe extern "system" fn get_instance_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    let told = TOLD.with_borrow(|told| told.as_ref().map(|told| told.real.clone()));
    let is_its = |real: &Arc<InstanceFunctions>| {
        instance == vk::Instance::null() || real.instance.handle() == instance
    };
    let real = told.filter(is_its).or_else(|| live::of_instance(instance))?;
    // SAFETY: the caller passes a name that ends with a zero. An adoption that is alive guarantees the instance.
    unsafe { address(&real, instance, CStr::from_ptr(name)) }
}

unsafe extern "system" fn enumerate_extensions(
    physical_device: vk::PhysicalDevice,
    layer: *const c_char,
    count: *mut u32,
    properties: *mut vk::ExtensionProperties,
) -> vk::Result {
    if let Some(told) = told(physical_device).filter(|_| layer.is_null()) {
        let all = &told.extensions;
        let len = u32::try_from(all.len()).unwrap_or(u32::MAX);
        // SAFETY: Vulkan's rules for lists: `count` is valid, and `properties` is null or has room for `count`.
        unsafe {
            if properties.is_null() {
                *count = len;
                return vk::Result::SUCCESS;
            }
            let copied = len.min(*count);
            properties.copy_from_nonoverlapping(all.as_ptr(), copied as usize);
            *count = copied;
            return if copied < len { vk::Result::INCOMPLETE } else { vk::Result::SUCCESS };
        }
    }
    let Some(real) = live::of_physical_device(physical_device) else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    let call = real.instance.fp_v1_0().enumerate_device_extension_properties;
    // SAFETY: passed on as the caller passed it, to the function that it stands for.
    unsafe { call(physical_device, layer, count, properties) }
}

unsafe extern "system" fn get_properties(
    physical_device: vk::PhysicalDevice,
    properties: *mut vk::PhysicalDeviceProperties,
) {
    let Some(real) = live::of_physical_device(physical_device) else {
        // SAFETY: `properties` is valid.
        return unsafe { *properties = vk::PhysicalDeviceProperties::default() };
    };
    // SAFETY: as in `enumerate_extensions`; `properties` is valid.
    unsafe {
        (real.instance.fp_v1_0().get_physical_device_properties)(physical_device, properties);
        if let Some(told) = told(physical_device) {
            (*properties).api_version = told.version;
        }
    }
}

unsafe extern "system" fn get_features(
    physical_device: vk::PhysicalDevice,
    features: *mut vk::PhysicalDeviceFeatures,
) {
    if let Some(told) = told(physical_device) {
        // SAFETY: `features` is valid.
        return unsafe { *features = told.features.core };
    }
    let Some(real) = live::of_physical_device(physical_device) else {
        // SAFETY: `features` is valid.
        return unsafe { *features = vk::PhysicalDeviceFeatures::default() };
    };
    // SAFETY: as in `enumerate_extensions`.
    unsafe { (real.instance.fp_v1_0().get_physical_device_features)(physical_device, features) }
}

unsafe extern "system" fn get_queue_families(
    physical_device: vk::PhysicalDevice,
    count: *mut u32,
    families: *mut vk::QueueFamilyProperties,
) {
    let Some(real) = live::of_physical_device(physical_device) else {
        // SAFETY: `count` is valid.
        return unsafe { *count = 0 };
    };
    // SAFETY: as in `enumerate_extensions`.
    unsafe {
        (real.instance.fp_v1_0().get_physical_device_queue_family_properties)(
            physical_device,
            count,
            families,
        );
        let family = told(physical_device).map_or(0, |told| told.queue_family);
        if !families.is_null() && family != 0 && family < *count {
            families.swap(families.add(family as usize));
        }
    }
}

/// Features that the application's device does not have stay as wgpu has initialised them: off.
unsafe extern "system" fn get_features2(
    physical_device: vk::PhysicalDevice,
    features: *mut vk::PhysicalDeviceFeatures2<'_>,
) {
    if let Some(told) = told(physical_device) {
        let mut chain = told.features;
        // SAFETY: `features` is the head of a valid chain.
        return unsafe {
            (*features).features = chain.core;
            chain.answer((*features).p_next.cast());
        };
    }
    let real = live::of_physical_device(physical_device);
    if let Some(call) = real.and_then(|real| real.get_features2) {
        // SAFETY: as in `enumerate_extensions`.
        unsafe { call(physical_device, features) }
    }
}

unsafe extern "system" fn get_properties2(
    physical_device: vk::PhysicalDevice,
    properties: *mut vk::PhysicalDeviceProperties2<'_>,
) {
    let real = live::of_physical_device(physical_device);
    let Some(call) = real.and_then(|real| real.get_properties2) else { return };
    // SAFETY: as in `enumerate_extensions`; `properties` is the head of a valid chain.
    unsafe {
        call(physical_device, properties);
        let Some(told) = told(physical_device) else { return };
        (*properties).properties.api_version = told.version;
        // NOTE: from Vulkan 1.3 on, wgpu takes the control of subgroup sizes for granted where there are subgroup
        // operations. Without that control there must be no operations.
        if told.features.subgroups.subgroup_size_control == vk::FALSE {
            let mut next: *mut vk::BaseOutStructure<'_> = (*properties).p_next.cast();
            while !next.is_null() {
                if (*next).s_type == vk::StructureType::PHYSICAL_DEVICE_SUBGROUP_PROPERTIES {
                    let subgroups: *mut vk::PhysicalDeviceSubgroupProperties<'_> = next.cast();
                    (*subgroups).supported_operations = vk::SubgroupFeatureFlags::empty();
                }
                next = (*next).p_next.cast();
            }
        }
    }
}

#[cfg(test)]
mod tests;
