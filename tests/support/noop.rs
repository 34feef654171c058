//! Devices that compute nothing.

use tilewise::{Gpu, GpuOptions};

/// A device that computes nothing but validates calls as real devices do. Tests of host cost and API errors need no driver.
pub fn noop() -> Gpu {
    noop_with(GpuOptions::default(), |_| ())
}

/// As [`noop`], with options and an edited request for the device.
pub fn noop_with(options: GpuOptions, change: impl FnOnce(&mut wgpu::DeviceDescriptor)) -> Gpu {
    noop_on(&noop_adapter(), options, change)
}

/// As [`noop_with`], on an existing noop adapter.
pub fn noop_on(
    adapter: &wgpu::Adapter,
    options: GpuOptions,
    change: impl FnOnce(&mut wgpu::DeviceDescriptor),
) -> Gpu {
    let mut desc = Gpu::device_descriptor(adapter);
    change(&mut desc);
    let (device, queue) = pollster::block_on(adapter.request_device(&desc)).expect("the noop device opens");
    Gpu::adopt_with(adapter, device, queue, options).expect("a noop device is never lost")
}

pub fn noop_adapter() -> wgpu::Adapter {
    noop_adapter_with(wgpu::NoopBackendOptions::default())
}

/// A noop adapter that reports what `options` say.
pub fn noop_adapter_with(options: wgpu::NoopBackendOptions) -> wgpu::Adapter {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: wgpu::Backends::NOOP,
        backend_options: wgpu::BackendOptions {
            noop: wgpu::NoopBackendOptions { enable: true, ..options },
            ..Default::default()
        },
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    pollster::block_on(instance.request_adapter(&Default::default())).expect("the noop adapter is there")
}
