//! What the application did not enable narrows the capabilities, and they say what that was.

use support::vulkan::{Application, Ask, properties2};
use tilewise::gpu::ash::{khr, vk};
use tilewise::gpu::{CoopScalar, RobustBufferAccess, VulkanFeatures};
use tilewise::{Fill, Gpu, matmul};

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

/// The application, and the features that the physical device has. None on the second driver, which has few of them.
fn all(ask: Ask) -> Option<(Application, VulkanFeatures)> {
    support::first_driver()?;
    let whole = Application::new(Ask::default())?;
    let features = whole.features;
    Some((Application::new(ask)?, features))
}

#[test]
fn without_f16() {
    let ask = Ask { features: |features| features.shader_float16 = false, ..Ask::default() };
    let Some((application, all)) = all(ask) else { return };
    let gpu = application.adopt();
    // Modules use rows of i8 all the same.
    assert!(!gpu.caps().f16 && gpu.caps().rows_of(CoopScalar::F16, CoopScalar::F32).next().is_none());
    assert_lists(&gpu, all.shader_float16, "shaderFloat16");
    computes(&gpu);
}

#[test]
fn without_16_bit_storage() {
    let ask = Ask { features: |features| features.storage_buffer16_bit_access = false, ..Ask::default() };
    let Some((application, all)) = all(ask) else { return };
    let gpu = application.adopt();
    assert!(!gpu.caps().f16);
    assert_lists(&gpu, all.storage_buffer16_bit_access, "storageBuffer16BitAccess");
    assert_lists(&gpu, false, "shaderFloat16");
    computes(&gpu);
}

#[test]
fn without_cooperative_matrices() {
    let ask = Ask { features: |features| features.cooperative_matrix = false, ..Ask::default() };
    let Some((application, all)) = all(ask) else { return };
    let gpu = application.adopt();
    assert_eq!(gpu.caps().rows, []);
    assert_lists(&gpu, all.cooperative_matrix, "cooperativeMatrix");
    computes(&gpu);
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
fn without_the_memory_model() {
    let ask =
        Ask { features: |features| features.vulkan_memory_model_device_scope = false, ..Ask::default() };
    let Some((application, all)) = all(ask) else { return };
    let gpu = application.adopt();
    assert_eq!(gpu.caps().rows, []);
    assert_lists(&gpu, all.vulkan_memory_model_device_scope, "vulkanMemoryModelDeviceScope");
}

#[test]
fn without_subgroups() {
    let ask = Ask { features: |features| features.subgroup_size_control = false, ..Ask::default() };
    let Some((application, all)) = all(ask) else { return };
    let gpu = application.adopt();
    assert!(gpu.caps().subgroups.is_none() && !gpu.caps().has_tensor_cores());
    assert_lists(&gpu, all.subgroup_size_control, "subgroupSizeControl");
    computes(&gpu);
}

#[test]
fn without_timeline_semaphores() {
    let ask = Ask { features: |features| features.timeline_semaphore = false, ..Ask::default() };
    let Some((application, all)) = all(ask) else { return };
    let gpu = application.adopt();
    assert_lists(&gpu, all.timeline_semaphore, "timelineSemaphore");
    computes(&gpu);
}

#[test]
fn without_64_bit_integers_and_without_robust_access() {
    let ask = Ask {
        features: |features| {
            features.core = vk::PhysicalDeviceFeatures::default();
            // Vulkan allows these two only with `robustBufferAccess`.
            (features.robust_buffer_access2, features.robust_image_access2) = (false, false);
        },
        ..Ask::default()
    };
    let Some((application, all)) = all(ask) else { return };
    let gpu = application.adopt();
    assert!(!gpu.caps().int64);
    assert_eq!(gpu.caps().robust_buffer_access, RobustBufferAccess::Off);
    assert_lists(&gpu, all.core.shader_int64 == vk::TRUE, "shaderInt64");
    assert_lists(&gpu, true, "robustBufferAccess");
    computes(&gpu);
}

#[test]
fn with_nothing_at_all() {
    for api_version in [vk::API_VERSION_1_1, vk::API_VERSION_1_2, vk::API_VERSION_1_3] {
        let ask =
            Ask { api_version, features: |features| *features = VulkanFeatures::default(), ..Ask::default() };
        let Some((application, _)) = all(ask) else { return };
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
