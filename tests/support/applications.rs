//! Devices as applications open them: from instances of wgpu that are not the library's.

use std::sync::OnceLock;
use tilewise::Gpu;

/// An adapter, and a device that was opened from it.
type Opened = (wgpu::Adapter, wgpu::Device, wgpu::Queue);

/// Opens a device as an application would. `change` edits the request. All are of one instance, which is not the library's.
pub fn application(change: impl FnOnce(&mut wgpu::DeviceDescriptor)) -> Option<Opened> {
    static INSTANCE: OnceLock<wgpu::Instance> = OnceLock::new();
    opened(INSTANCE.get_or_init(instance), change)
}

/// The same from an instance of its own: wgpu cannot tell its objects from those of the same numbers of another instance.
pub fn stranger() -> Option<Opened> {
    opened(&instance(), |_| ())
}

/// An instance with the library's flags, so that the validation layer watches it where it watches the library.
fn instance() -> wgpu::Instance {
    let mut flags = wgpu::InstanceFlags::from_build_config().with_env();
    if flags.contains(wgpu::InstanceFlags::VALIDATION) {
        flags |= wgpu::InstanceFlags::DEBUG;
    }
    let other = wgpu::InstanceDescriptor::new_without_display_handle();
    wgpu::Instance::new(wgpu::InstanceDescriptor { flags, ..other })
}

/// Opens a device of the adapter that all tests share.
fn opened(instance: &wgpu::Instance, change: impl FnOnce(&mut wgpu::DeviceDescriptor)) -> Option<Opened> {
    let name = super::gpu()?.caps().adapter.clone();
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
    let adapter = adapters.into_iter().find(|adapter| adapter.get_info().name == name)?;
    let mut desc = Gpu::device_descriptor(&adapter);
    change(&mut desc);
    let (device, queue) =
        pollster::block_on(adapter.request_device(&desc)).expect("the application's device opens");
    Some((adapter, device, queue))
}
