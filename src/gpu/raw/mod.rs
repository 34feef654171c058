//! The calls of wgpu that need `unsafe` code. A comment at each call explains why its conditions hold. `extensions`,
//! `vulkan` and `handle/threads.rs` have the rest of the crate's `unsafe` code.
#![expect(
    unsafe_code,
    reason = "unsafe calls of wgpu, each with its reason; queries of Vulkan are in `extensions`"
)]

use crate::caps::MatrixExtensions;
use crate::gpu::extensions::MatrixFeatures;
use crate::gpu::extensions::vouched::VouchedExtensions;
use crate::gpu::options::buffer_access::BufferAccess;
use crate::{Error, Result};

impl BufferAccess {
    /// The driver does not check accesses to buffers: [`Gpu::open_with`](crate::Gpu::open_with) opens the device without
    /// Vulkan's features `robustBufferAccess` and `robustBufferAccess2`. On other APIs than Vulkan it returns
    /// [`Error::Unsupported`].
    ///
    /// Kernels, plans and results are the same. Whether kernels are faster depends on the driver's compiler: measure.
    ///
    /// # Safety
    /// No shader that runs on the device may access a buffer outside of the range that is bound, whoever made the
    /// shader. The kernels of this crate do not. But the condition includes every shader that safe code creates on
    /// [`Gpu::device`](crate::Gpu::device). If the driver has `robustBufferAccess2`, wgpu relies on it and adds no checks
    /// of its own to accesses to buffers, and it does not know that this device is without. Vertex and index buffers are
    /// not checked either. An access outside of a buffer can then read or write any memory of this process that the GPU
    /// can reach, such as other tensors, and can lose the device.
    ///
    /// So give such a device only to code that you trust as much as your own `unsafe` code.
    ///
    /// ```no_run
    /// use tilewise::gpu::BufferAccess;
    /// use tilewise::{Gpu, GpuOptions};
    ///
    /// // SAFETY: this program runs no shaders on the device but those of Tilewise.
    /// let buffer_access = unsafe { BufferAccess::unchecked() };
    /// let gpu = Gpu::open_with(GpuOptions { buffer_access, ..GpuOptions::default() })?;
    /// # Ok::<_, tilewise::Error>(())
    /// ```
    #[must_use]
    pub const unsafe fn unchecked() -> Self {
        Self { is_unchecked: true }
    }
}

impl VouchedExtensions {
    /// Extensions that an application has enabled on its own device, for
    /// [`AdoptOptions::extensions`](crate::gpu::AdoptOptions::extensions).
    ///
    /// # Safety
    /// The device was created with the extensions, and with all their features that its physical device reports; of
    /// `VK_KHR_8bit_storage`, with `storageBuffer8BitAccess`. A kernel that uses a feature that is not enabled may do anything.
    ///
    /// ```no_run
    /// use tilewise::gpu::{AdoptOptions, MatrixExtensions, VouchedExtensions};
    ///
    /// let enabled = MatrixExtensions { bfloat16: true, ..MatrixExtensions::default() };
    /// // SAFETY: this program creates its device with all features of VK_KHR_shader_bfloat16.
    /// let extensions = unsafe { VouchedExtensions::enabled(enabled) };
    /// let options = AdoptOptions { extensions, ..AdoptOptions::default() };
    /// ```
    #[must_use]
    pub const unsafe fn enabled(extensions: MatrixExtensions) -> Self {
        Self { extensions }
    }
}

/// Opens a device as wgpu does, with the same extensions, features and queue, and with these features besides, which the driver
/// has. If a caller of [`BufferAccess::unchecked`] asked for it, the driver does not check accesses to buffers. `desc` is that of
/// [`Gpu::device_descriptor`](crate::Gpu::device_descriptor) for this adapter.
///
/// # Errors
/// [`Error::Unsupported`] if the adapter's API is not Vulkan; [`Error::Device`] if the driver refuses.
pub(super) fn open(
    adapter: &wgpu::Adapter,
    desc: &wgpu::DeviceDescriptor<'_>,
    access: BufferAccess,
    features: MatrixFeatures,
) -> Result<(wgpu::Device, wgpu::Queue)> {
    #[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
    {
        // SAFETY: the handle is used to create a device, while the adapter is alive.
        let hal = unsafe { adapter.as_hal::<wgpu::hal::vulkan::Api>() };
        if let Some(hal) = hal.as_deref() {
            let device = vulkan::open(hal, desc, access, features)?;
            // SAFETY: the device was created on this adapter, with the features and limits of `desc`.
            return unsafe { adapter.create_device_from_hal(device, desc) }.map_err(Error::device);
        }
    }
    let wgpu::AdapterInfo { name, backend, .. } = adapter.get_info();
    let _ = (desc, access, features);
    Err(Error::Unsupported {
        op: "Gpu::open",
        needs: "Vulkan, for `BufferAccess::unchecked`".into(),
        device: format!("{name} ({backend})"),
    })
}

#[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
mod vulkan {
    use crate::gpu::extensions::MatrixFeatures;
    use crate::gpu::options::buffer_access::BufferAccess;
    use crate::{Error, Result};
    use ash::{ext, vk};
    use std::ffi::CStr;
    use wgpu::hal::vulkan::{Adapter, Api, PhysicalDeviceFeatures};

    /// The queue family that wgpu uses.
    const FAMILY: u32 = 0;

    /// The arguments with which a device is created.
    pub(super) struct Enabled {
        pub(super) extensions: Vec<&'static CStr>,
        pub(super) core: vk::PhysicalDeviceFeatures,
        pub(super) features: PhysicalDeviceFeatures,
    }

    /// What wgpu enables for `desc`; for unchecked access without `robustBufferAccess` and `robustBufferAccess2`.
    pub(super) fn enabled(
        adapter: &Adapter,
        desc: &wgpu::DeviceDescriptor<'_>,
        access: BufferAccess,
    ) -> Enabled {
        let extensions = adapter.required_device_extensions(desc.required_features);
        if !access.is_unchecked {
            let features = adapter.physical_device_features(&extensions, desc.required_features);
            return Enabled { extensions, core: features.get_core(), features };
        }
        // NOTE: wgpu asks for the features of this extension if it is in the list. The extension itself stays enabled.
        // `robustImageAccess2` goes too; `robustImageAccess`, of another extension, stays.
        let listed: Vec<_> =
            extensions.iter().copied().filter(|name| *name != ext::robustness2::NAME).collect();
        let features = adapter.physical_device_features(&listed, desc.required_features);
        let core = vk::PhysicalDeviceFeatures { robust_buffer_access: vk::FALSE, ..features.get_core() };
        Enabled { extensions, core, features }
    }

    pub(super) fn open(
        adapter: &Adapter,
        desc: &wgpu::DeviceDescriptor<'_>,
        access: BufferAccess,
        mut matrices: MatrixFeatures,
    ) -> Result<wgpu::hal::OpenDevice<Api>> {
        let Enabled { mut extensions, core, mut features } = enabled(adapter, desc, access);
        extensions.extend(matrices.names());
        let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
        let queue = vk::DeviceQueueCreateInfo::default().queue_family_index(FAMILY).queue_priorities(&[1.0]);
        let queues = [queue];
        let info =
            vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
        let info = features.add_to_device_create(info).enabled_features(&core);
        let info = matrices.push_to(info);
        let instance = adapter.shared_instance().raw_instance();
        // SAFETY: the physical device comes from that instance. All that `info` points to lives until the call returns.
        let device = unsafe { instance.create_device(adapter.raw_physical_device(), &info, None) };
        let device = device.map_err(|error| {
            let without = if access.is_unchecked { " without robustBufferAccess" } else { "" };
            Error::device(format!("the driver does not open a device{without}: {error}"))
        })?;
        // NOTE: without a callback, wgpu destroys the device, and then lets go of the instance. A callback would be called
        // after the instance is gone.
        // SAFETY: the device was created on this adapter, with this family, these extensions and at least
        // `physical_device_features`, but for those that a caller of `BufferAccess::unchecked` has vouched for. wgpu owns it from
        // here on.
        let opened = unsafe {
            adapter.device_from_raw(
                device,
                None,
                &extensions,
                desc.required_features,
                &desc.required_limits,
                &desc.memory_hints,
                FAMILY,
                0,
            )
        };
        opened.map_err(Error::device)
    }
}

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

/// Whether a device may be opened with cooperative matrices: the driver has the feature, besides sizes that it lists.
///
/// NOTE: wgpu 30 counts the sizes alone and panics when the driver then refuses the device. Lavapipe with vectors of 128 bits lists
/// sizes without the feature: on CPUs of Arm, and on those of x86 without AVX (`findings/wgpu_matrices_without_their_feature.sh`).
pub(super) fn has_matrices(adapter: &wgpu::Adapter) -> bool {
    #[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
    {
        use ash::vk;
        // SAFETY: the handle is only read, while the adapter is alive.
        let hal = unsafe { adapter.as_hal::<wgpu::hal::vulkan::Api>() };
        if let Some(hal) = hal.as_deref() {
            if hal.shared_instance().instance_api_version() < vk::API_VERSION_1_1 {
                return false; // it has no function that says so
            }
            let instance = hal.shared_instance().raw_instance();
            let mut found = vk::PhysicalDeviceCooperativeMatrixFeaturesKHR::default();
            let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut found);
            // SAFETY: the physical device comes from that instance, and both structs live until the call returns. A driver
            // without the extension leaves the second one as it is.
            unsafe { instance.get_physical_device_features2(hal.raw_physical_device(), &mut features) };
            return found.cooperative_matrix == vk::TRUE;
        }
    }
    let _ = adapter;
    true
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

/// Hands a module to the driver as it is. The device has the features that [`Kernel::fits`](crate::kernel::Kernel::fits) asks for.
pub(super) fn module(device: &wgpu::Device, name: &str, words: &[u32]) -> wgpu::ShaderModule {
    let entry = wgpu::PassthroughShaderEntryPoint { name: "main".into(), workgroup_size: (0, 0, 0) };
    let desc = wgpu::ShaderModuleDescriptorPassthrough {
        label: Some(name),
        entry_points: vec![entry].into(),
        spirv: Some(words.into()),
        ..Default::default()
    };
    // SAFETY: only modules of this crate are passed: those in `shaders/spirv/`, with literals of constants replaced. CI builds
    // each of them again and validates it. Their declarations agree with the pipeline's layout and with the limits and
    // features of the device, which `Code::fits` has checked. Indices, loops and divisors as in `trusted_module`.
    unsafe { device.create_shader_module_passthrough(desc) }
}

/// Creates a pipeline cache from the data that an earlier run stored.
pub(crate) fn pipeline_cache(device: &wgpu::Device, data: Option<&[u8]>) -> wgpu::PipelineCache {
    let desc = wgpu::PipelineCacheDescriptor { label: Some("tilewise"), data, fallback: true };
    // SAFETY: the data is what `PipelineCache::get_data` returned to this user. It comes from a file that no other user
    // may write, and the file's digest binds it to adapter, driver and version. wgpu also compares adapter and driver
    // with its own header.
    unsafe { device.create_pipeline_cache(&desc) }
}

/// Returns free memory of the C library's heap to the system. Drivers compile in this heap, which leaves small free blocks
/// that the C library would otherwise keep. Does nothing on systems where this is not known to help.
pub(super) fn trim_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> std::ffi::c_int;
        }
        // SAFETY: glibc has this function since 2.0. It may be called at any time from any thread, and frees nothing that is in
        // use.
        unsafe { malloc_trim(0) };
    }
}

#[cfg(test)]
mod tests {
    use super::{BufferAccess, MatrixFeatures};
    use crate::{Error, Gpu};

    #[test]
    fn only_vulkan_opens_a_device_without_checks() {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends: wgpu::Backends::NOOP,
            backend_options: wgpu::BackendOptions {
                noop: wgpu::NoopBackendOptions { enable: true, ..Default::default() },
                ..Default::default()
            },
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        });
        let adapter = pollster::block_on(instance.request_adapter(&Default::default())).unwrap();
        let (access, none) = (BufferAccess { is_unchecked: true }, MatrixFeatures::default());
        let error = super::open(&adapter, &Gpu::device_descriptor(&adapter), access, none).unwrap_err();
        assert!(matches!(error, Error::Unsupported { op: "Gpu::open", .. }), "{error}");
        assert!(error.to_string().contains("it needs Vulkan, for `BufferAccess::unchecked`"), "{error}");
    }

    #[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
    mod vulkan {
        use super::super::{BufferAccess, MatrixFeatures, open, vulkan};
        use crate::{Error, Gpu};

        const UNCHECKED: BufferAccess = BufferAccess { is_unchecked: true };

        fn adapters() -> Vec<wgpu::Adapter> {
            let mut adapters = Gpu::adapters();
            adapters.retain(|adapter| adapter.get_info().backend == wgpu::Backend::Vulkan);
            if adapters.is_empty() {
                println!("skipped: no Vulkan adapter");
            }
            adapters
        }

        #[test]
        fn all_is_enabled_as_wgpu_does_except_two_features() {
            for adapter in adapters() {
                let desc = Gpu::device_descriptor(&adapter);
                // SAFETY: the handle is only read.
                let hal = unsafe { adapter.as_hal::<wgpu::hal::vulkan::Api>() }.expect("it is Vulkan");
                let extensions = hal.required_device_extensions(desc.required_features);
                let usual = hal.physical_device_features(&extensions, desc.required_features);
                let vulkan::Enabled { extensions: enabled, core, features } =
                    vulkan::enabled(&hal, &desc, UNCHECKED);
                assert_eq!(enabled, extensions);
                let mut usual_core = usual.get_core();
                assert_eq!([usual_core.robust_buffer_access, core.robust_buffer_access], [1, 0]);
                usual_core.robust_buffer_access = 0;
                assert_eq!(format!("{core:?}"), format!("{usual_core:?}"));
                let lines =
                    |features| format!("{features:#?}").lines().map(str::to_owned).collect::<Vec<_>>();
                let (usual, features) = (lines(usual), lines(features));
                let other: Vec<_> = features.iter().filter(|line| !usual.contains(line)).collect();
                let off = features.iter().any(|line| line.trim() == "robustness2: None,");
                assert!(off && other.iter().all(|line| line.trim() == "robustness2: None,"), "{other:?}");
            }
        }

        /// Vulkan prescribes this error for a feature that the driver does not have.
        #[test]
        fn a_driver_that_refuses_is_an_error_of_the_device() {
            use wgpu::Features as F;
            for adapter in adapters() {
                let (mut desc, has) = (Gpu::device_descriptor(&adapter), adapter.features());
                let some = [F::TEXTURE_COMPRESSION_ASTC, F::TEXTURE_COMPRESSION_ETC2, F::SHADER_F64];
                let Some(missing) = some.into_iter().find(|feature| !has.contains(*feature)) else {
                    continue;
                };
                desc.required_features |= missing;
                let error = open(&adapter, &desc, UNCHECKED, MatrixFeatures::default()).unwrap_err();
                assert!(matches!(error, Error::Device(_)), "{error}");
                assert!(error.to_string().contains("without robustBufferAccess"), "{error}");
            }
        }
    }
}
