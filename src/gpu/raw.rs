//! All `unsafe` code of the crate: each call has the reason why its conditions hold.
#![expect(unsafe_code, reason = "every unsafe call of the crate is here, with its reason")]

/// Bytes of the largest memory heap that is the device's own, where the API tells.
pub(crate) fn device_memory(adapter: &wgpu::Adapter) -> Option<u64> {
    #[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
    {
        // SAFETY: the handle is only read, while the adapter is alive.
        let adapter = unsafe { adapter.as_hal::<wgpu::hal::vulkan::Api>() }?;
        let instance = adapter.shared_instance().raw_instance();
        // SAFETY: the physical device comes from that instance.
        let memory = unsafe { instance.get_physical_device_memory_properties(adapter.raw_physical_device()) };
        // VK_MEMORY_HEAP_DEVICE_LOCAL_BIT
        memory
            .memory_heaps_as_slice()
            .iter()
            .filter(|heap| heap.flags.as_raw() & 1 == 1)
            .map(|heap| heap.size)
            .max()
    }
    #[cfg(not(any(target_os = "linux", target_os = "windows", target_os = "android")))]
    {
        let _ = adapter;
        None
    }
}

/// Leave to use the experimental features that an adapter offers: cooperative matrices.
pub(crate) fn experimental() -> wgpu::ExperimentalFeatures {
    // SAFETY: the promise is to expect bugs. Ours are looked for by the tests of every kernel that uses them.
    unsafe { wgpu::ExperimentalFeatures::enabled() }
}

/// A shader without run-time checks of indices, loops and divisors.
pub(crate) fn trusted_module(
    device: &wgpu::Device,
    desc: wgpu::ShaderModuleDescriptor<'_>,
) -> wgpu::ShaderModule {
    // SAFETY: only shaders of this crate come here. A `Layout` proves that every element lies in its buffer, a
    // checked problem that every dimension fits in u32, and the sweeps in tests/ run every kernel in both modes.
    // Their loops end: bounds are constants or dimensions, steps are constants above 0. No divisor is 0: they are
    // constants, or extents of problems that are not empty. What `Gpu::prepare` compiles of a plan that an application
    // has changed is never launched.
    unsafe { device.create_shader_module_trusted(desc, wgpu::ShaderRuntimeChecks::unchecked()) }
}

/// A pipeline cache that starts from what an earlier run has kept.
pub(crate) fn pipeline_cache(device: &wgpu::Device, data: Option<&[u8]>) -> wgpu::PipelineCache {
    let desc = wgpu::PipelineCacheDescriptor { label: Some("tilewise"), data, fallback: true };
    // SAFETY: the data is what `PipelineCache::get_data` returned to this user, from a file that nobody else may write,
    // whose digest binds it to adapter, driver and version; wgpu compares adapter and driver with its own header.
    unsafe { device.create_pipeline_cache(&desc) }
}
