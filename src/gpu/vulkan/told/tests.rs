//! What wgpu is told, held against a made-up driver: three queue families, Vulkan 1.3, two extensions.

use super::super::adapter::VulkanAdapter;
use super::super::features::VulkanFeatures;
use super::*;
use ash::vk::Handle;

unsafe extern "system" fn driver(_: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction {
    unsafe extern "system" fn properties(
        _: vk::PhysicalDevice,
        properties: *mut vk::PhysicalDeviceProperties,
    ) {
        let found = vk::PhysicalDeviceProperties { api_version: vk::API_VERSION_1_3, ..Default::default() };
        // SAFETY: a valid pointer, as in all functions here.
        unsafe { *properties = found };
    }
    unsafe extern "system" fn families(
        _: vk::PhysicalDevice,
        count: *mut u32,
        families: *mut vk::QueueFamilyProperties,
    ) {
        // SAFETY: as above.
        unsafe {
            *count = 3;
            for at in (0..3).filter(|_| !families.is_null()) {
                let family = vk::QueueFamilyProperties { timestamp_valid_bits: at, ..Default::default() };
                *families.add(at as usize) = family;
            }
        }
    }
    unsafe extern "system" fn extensions(
        _: vk::PhysicalDevice,
        _: *const c_char,
        count: *mut u32,
        _: *mut vk::ExtensionProperties,
    ) -> vk::Result {
        // SAFETY: as above.
        unsafe { *count = 0 };
        vk::Result::SUCCESS
    }
    unsafe extern "system" fn features(_: vk::PhysicalDevice, features: *mut vk::PhysicalDeviceFeatures) {
        let found = vk::PhysicalDeviceFeatures { shader_int64: vk::TRUE, ..Default::default() };
        // SAFETY: as above.
        unsafe { *features = found };
    }
    // SAFETY: the name ends with a zero; Vulkan passes every function as one of this type.
    unsafe {
        Some(match CStr::from_ptr(name).to_bytes() {
            b"vkGetPhysicalDeviceProperties" => {
                transmute::<vk::PFN_vkGetPhysicalDeviceProperties, Address>(properties)
            }
            b"vkGetPhysicalDeviceQueueFamilyProperties" => {
                transmute::<vk::PFN_vkGetPhysicalDeviceQueueFamilyProperties, Address>(families)
            }
            b"vkEnumerateDeviceExtensionProperties" => {
                transmute::<vk::PFN_vkEnumerateDeviceExtensionProperties, Address>(extensions)
            }
            b"vkGetPhysicalDeviceFeatures" => {
                transmute::<vk::PFN_vkGetPhysicalDeviceFeatures, Address>(features)
            }
            // Under the name of Vulkan 1.1 only.
            b"vkGetPhysicalDeviceMemoryProperties2" => {
                transmute::<vk::PFN_vkGetPhysicalDeviceFeatures, Address>(features)
            }
            _ => return None,
        })
    }
}

#[test]
fn a_thread_is_told_only_while_it_asks_and_everyone_else_gets_the_driver() {
    let adapter = VulkanAdapter {
        get_instance_proc_addr: driver,
        instance: vk::Instance::from_raw(0x10),
        api_version: vk::API_VERSION_1_1,
        instance_extensions: &[],
        physical_device: vk::PhysicalDevice::from_raw(0x20),
    };
    assert!(!adapter.is_adopted());
    // SAFETY: the driver above ignores its handles.
    let entry = unsafe { live::LiveInstance::add(&adapter) };
    assert!(adapter.is_adopted());
    // SAFETY: as above.
    let instance = unsafe { instance(entry.real()) };
    let phd = adapter.physical_device;
    // SAFETY: as above, in all calls.
    let seen = || unsafe {
        let families = instance.get_physical_device_queue_family_properties(phd);
        let families: Vec<u32> = families.iter().map(|family| family.timestamp_valid_bits).collect();
        let version = instance.get_physical_device_properties(phd).api_version;
        let extensions = instance.enumerate_device_extension_properties(phd).expect("a list").len();
        (version, families, extensions, instance.get_physical_device_features(phd).shader_int64)
    };
    let of_driver = (vk::API_VERSION_1_3, vec![0, 1, 2], 0, vk::TRUE);
    assert_eq!(seen(), of_driver);
    let told = Told {
        real: entry.real().clone(),
        physical_device: phd,
        version: vk::API_VERSION_1_1,
        extensions: vec![vk::ExtensionProperties::default(); 2],
        features: VulkanFeatures::default().chain(),
        queue_family: 2,
    };
    while_told(told, || {
        assert_eq!(seen(), (vk::API_VERSION_1_1, vec![2, 1, 0], 2, vk::FALSE));
        std::thread::scope(|scope| {
            scope.spawn(|| assert_eq!(seen(), of_driver, "on another thread"));
        });
        let mut one = (1, vk::ExtensionProperties::default());
        // SAFETY: there is room for one.
        let result = unsafe { enumerate_extensions(phd, std::ptr::null(), &mut one.0, &mut one.1) };
        assert_eq!((result, one.0), (vk::Result::INCOMPLETE, 1));
    });
    assert_eq!(seen(), of_driver);
    // SAFETY: names that end with a zero.
    let address = |instance, name: &CStr| unsafe { get_instance_proc_addr(instance, name.as_ptr()) };
    let named = c"vkGetPhysicalDeviceMemoryProperties2KHR";
    assert!(address(adapter.instance, named).is_some(), "found under the name of Vulkan 1.1");
    assert!(address(adapter.instance, c"vkCreateDevice").is_none());
    drop(entry);
    assert!(!adapter.is_adopted());
    assert!(address(adapter.instance, named).is_none(), "no adoption is left");
}
