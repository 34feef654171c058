//! What the application did not enable narrows the capabilities, and they say what that was.

use support::vulkan::{Application, Ask, properties2};
use tilewise::gpu::ash::{khr, vk};
use tilewise::gpu::{CoopScalar, RobustBufferAccess, VulkanFeatures};
use tilewise::{Caps, Fill, Gpu, matmul};

/// An exact product of f32, which every device can compute.
fn computes(gpu: &Gpu) {
    let (a, b) = (Fill::Integers.values::<f32>(37 * 19, 1), Fill::Integers.values::<f32>(19 * 23, 2));
    let want = tilewise::reference::gemm(&a, &b, [37, 23, 19]).value;
    let (a, b) = (gpu.tensor(&a, [37, 19]).unwrap(), gpu.tensor(&b, [19, 23]).unwrap());
    let c: Vec<f64> = matmul(&a, &b).unwrap().to_vec().unwrap().into_iter().map(f64::from).collect();
    assert_eq!(c, want);
}

/// The names that the capabilities list, if the physical device has the feature at all.
fn assert_lists(gpu: &Gpu, supported: bool, name: &str) {
    let caps = gpu.caps();
    let is_listed = caps.not_enabled.iter().any(|listed| listed.split(' ').next() == Some(name));
    assert_eq!(is_listed, supported, "{name}: {:?}", caps.not_enabled);
    assert_eq!(caps.to_string().contains(name), supported, "{caps}");
}

/// A feature that an application has not enabled: how it leaves it out, whether the device then lacks it, and what the device lists,
/// given what it supports.
type Without = (
    &'static str,
    fn(&mut VulkanFeatures),
    fn(&Caps) -> bool,
    fn(&VulkanFeatures) -> Vec<(&'static str, bool)>,
);

const WITHOUT: [Without; 7] = [
    (
        "f16",
        |features| features.shader_float16 = false,
        // Modules use rows of i8 all the same.
        |caps| !caps.f16 && caps.rows_of(CoopScalar::F16, CoopScalar::F32).next().is_none(),
        |all| vec![("shaderFloat16", all.shader_float16)],
    ),
    (
        "16-bit storage",
        |features| features.storage_buffer16_bit_access = false,
        |caps| !caps.f16,
        |all| vec![("storageBuffer16BitAccess", all.storage_buffer16_bit_access), ("shaderFloat16", false)],
    ),
    (
        "cooperative matrices",
        |features| features.cooperative_matrix = false,
        |caps| caps.rows.is_empty(),
        |all| vec![("cooperativeMatrix", all.cooperative_matrix)],
    ),
    (
        "the memory model",
        |features| features.vulkan_memory_model_device_scope = false,
        |caps| caps.rows.is_empty(),
        |all| vec![("vulkanMemoryModelDeviceScope", all.vulkan_memory_model_device_scope)],
    ),
    (
        "subgroups",
        |features| features.subgroup_size_control = false,
        |caps| caps.subgroups.is_none() && !caps.has_tensor_cores(),
        |all| vec![("subgroupSizeControl", all.subgroup_size_control)],
    ),
    (
        "timeline semaphores",
        |features| features.timeline_semaphore = false,
        |_| true,
        |all| vec![("timelineSemaphore", all.timeline_semaphore)],
    ),
    (
        "64-bit integers and robust access",
        |features| {
            features.core = vk::PhysicalDeviceFeatures::default();
            // Vulkan allows these two only with `robustBufferAccess`.
            (features.robust_buffer_access2, features.robust_image_access2) = (false, false);
        },
        |caps| !caps.int64 && caps.robust_buffer_access == RobustBufferAccess::Off,
        |all| vec![("shaderInt64", all.core.shader_int64 == vk::TRUE), ("robustBufferAccess", true)],
    ),
];

#[test]
fn a_feature_that_is_not_enabled_is_lacking_and_listed() {
    let Some(whole) = support::first_driver().and_then(|()| Application::new(Ask::default())) else { return };
    for (what, features, lacks, listed) in WITHOUT {
        println!("without {what}");
        let Some(application) = Application::new(Ask { features, ..Ask::default() }) else { return };
        let gpu = application.adopt();
        assert!(lacks(gpu.caps()), "without {what}: {}", gpu.caps());
        listed(&whole.features).into_iter().for_each(|(name, supported)| assert_lists(&gpu, supported, name));
        computes(&gpu);
    }
}

#[test]
fn with_the_extension_of_cooperative_matrices_but_not_the_feature() {
    let ask = Ask {
        features: |features| features.cooperative_matrix = false,
        extensions: |names| names.push(khr::cooperative_matrix::NAME),
        ..Ask::default()
    };
    let Some(whole) = Application::new(Ask::default()) else { return };
    if !whole.features.cooperative_matrix {
        println!("skipped: no cooperative matrices");
        return;
    }
    let Some(application) = Application::new(ask) else { return };
    assert_eq!(application.adopt().caps().rows, []);
}

#[test]
fn with_nothing_at_all() {
    for api_version in [vk::API_VERSION_1_1, vk::API_VERSION_1_2, vk::API_VERSION_1_3] {
        let ask =
            Ask { api_version, features: |features| *features = VulkanFeatures::default(), ..Ask::default() };
        let Some(application) = support::first_driver().and_then(|()| Application::new(ask)) else { return };
        let gpu = application.adopt();
        let caps = gpu.caps();
        assert!(!caps.f16 && !caps.int64 && caps.subgroups.is_none() && caps.rows.is_empty(), "{caps}");
        assert!(!caps.driver.contains('?'), "{caps}");
        computes(&gpu);
    }
}

#[test]
fn every_version_of_vulkan_has_what_it_enables() {
    for api_version in [vk::API_VERSION_1_0, vk::API_VERSION_1_1, vk::API_VERSION_1_2] {
        let ask = Ask { api_version, instance_extensions: properties2(), ..Ask::default() };
        let Some(application) = Application::new(ask) else { return };
        let gpu = application.adopt();
        let caps = gpu.caps();
        let too_old = api_version == vk::API_VERSION_1_0;
        let missing: &[&str] = if too_old { &["Vulkan 1.1 (of the instance)"] } else { &[] };
        assert_eq!(caps.not_enabled, missing, "{api_version:x}");
        assert_eq!(caps.subgroups.is_none(), too_old, "{caps}");
        assert_eq!(caps.f16, application.features.shader_float16, "{caps}");
        assert!(!caps.driver.contains('?'), "{caps}");
        computes(&gpu);
    }
}

#[test]
fn an_instance_that_cannot_ask_says_so() {
    let ask = Ask { api_version: vk::API_VERSION_1_0, ..Ask::default() };
    let Some(application) = Application::new(ask) else { return };
    let gpu = application.adopt();
    let caps = gpu.caps();
    assert!(!caps.f16 && caps.rows.is_empty(), "{caps}");
    assert_eq!(caps.not_enabled, ["VK_KHR_get_physical_device_properties2 (of the instance)"]);
    computes(&gpu);
}
