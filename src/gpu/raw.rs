//! All `unsafe` code of the crate. A comment at each call says why its conditions hold.
#![expect(unsafe_code, reason = "every unsafe call of the crate is here, with its reason")]

/// Size in bytes of the largest device-local memory heap, if the API reports it.
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

/// Permission to use an adapter's experimental features, here cooperative matrices.
pub(crate) fn experimental() -> wgpu::ExperimentalFeatures {
    // SAFETY: the caller must accept that these features may have bugs. The tests of every kernel that uses them look
    // for such bugs.
    unsafe { wgpu::ExperimentalFeatures::enabled() }
}

/// Compiles a shader without run-time checks of indices, loops and divisors.
pub(crate) fn trusted_module(
    device: &wgpu::Device,
    desc: wgpu::ShaderModuleDescriptor<'_>,
) -> wgpu::ShaderModule {
    // SAFETY: only shaders of this crate are compiled here. Indices: a `Layout` proves that every element is within its
    // buffer, a checked problem proves that every dimension fits in u32, and the sweeps in tests/ run every kernel with
    // and without checks. Loops end: their bounds are constants or dimensions, and their increments are constants above
    // 0. Divisors are not 0: they are constants, or extents of problems that are not empty. If an application has
    // changed a plan, `Gpu::prepare` may compile its kernels, but they are never launched.
    unsafe { device.create_shader_module_trusted(desc, wgpu::ShaderRuntimeChecks::unchecked()) }
}

/// Creates a pipeline cache from the data that an earlier run stored.
pub(crate) fn pipeline_cache(device: &wgpu::Device, data: Option<&[u8]>) -> wgpu::PipelineCache {
    let desc = wgpu::PipelineCacheDescriptor { label: Some("tilewise"), data, fallback: true };
    // SAFETY: the data is what `PipelineCache::get_data` returned to this user. It comes from a file that no other user
    // may write, and the file's digest binds it to adapter, driver and version. wgpu also compares adapter and driver
    // with its own header.
    unsafe { device.create_pipeline_cache(&desc) }
}
