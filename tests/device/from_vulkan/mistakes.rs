//! Wrong descriptions of a device that can be seen are errors, which leave the device usable.

use support::failure::{Kind, fails, says};
use support::vulkan::{Application, Ask};
use tilewise::gpu::AdoptOptions;
use tilewise::gpu::ash::vk;
use tilewise::{Error, GpuOptions};

#[test]
fn null_handles_and_missing_queues_are_refused() {
    let Some(application) = Application::new(Ask::default()) else { return };
    let said = |error: Error, text: &str| {
        assert!(matches!(error, Error::Input { .. }), "{error}");
        assert!(error.to_string().contains(text), "{error}");
    };
    let refused = application.refused(|vulkan| vulkan.device = vk::Device::null());
    said(refused, "Gpu::from_vulkan: device: it is VK_NULL_HANDLE");
    let refused = application.refused(|vulkan| vulkan.adapter.instance = vk::Instance::null());
    said(refused, "Gpu::from_vulkan: instance: it is VK_NULL_HANDLE");
    let refused = application.refused(|vulkan| vulkan.adapter.physical_device = vk::PhysicalDevice::null());
    said(refused, "Gpu::from_vulkan: physical_device: it is VK_NULL_HANDLE");
    let refused = application.refused(|vulkan| vulkan.queue_family = 99);
    said(refused, "Gpu::from_vulkan: queue_family: it is 99, but the physical device has");
    let refused = application.refused(|vulkan| vulkan.queue_index = 99);
    said(refused, "Gpu::from_vulkan: queue_index: it is 99, but family 0 has");
    application.adopt();
}

/// AMD's driver has such families; those of lavapipe and SwiftShader all have graphics.
#[test]
fn a_queue_family_without_graphics_is_refused() {
    let Some(application) = Application::new(Ask::default()) else { return };
    let Some(family) = application.family_without_graphics() else {
        return println!("skipped: every queue family has graphics");
    };
    let error = application.refused(|vulkan| vulkan.queue_family = family);
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    let text =
        "needs a queue family with graphics and compute, because wgpu's barriers name the stages of both";
    assert!(error.to_string().contains(text), "{error}");
}

#[test]
fn an_option_of_opening_is_refused() {
    let Some(application) = Application::new(Ask::default()) else { return };
    let mut options = GpuOptions::default();
    support::unchecked(&mut options);
    says(application.try_adopt(AdoptOptions::from(options)), &["^Gpu::from_vulkan: buffer_access: "]);
}

#[test]
fn a_device_of_vulkan_1_0_without_what_wgpu_needs_is_refused() {
    let ask = Ask { api_version: vk::API_VERSION_1_0, extensions: Vec::clear, ..Ask::default() };
    let Some(application) = Application::new(ask) else { return };
    fails(application.try_adopt(AdoptOptions::default()), Kind::Unsupported, &["VK_KHR_maintenance1"]);
}
