//! Creates compute pipelines with Vulkan as wgpu does, and queries the driver's results.
#![expect(unsafe_code, reason = "Vulkan is called without a library that checks the calls")]

use crate::spirv::Spirv;
use crate::steps::Access;
use ash::vk;
use std::ffi::{CStr, c_void};

/// A Vulkan device.
pub(crate) struct Device {
    /// The loader's library, which must outlive the other fields.
    _entry: ash::Entry,
    device: ash::Device,
    executables: ash::khr::pipeline_executable_properties::Device,
    /// The driver's name and version.
    driver: String,
}

/// A driver's report about a pipeline.
pub(crate) struct Compiled {
    /// Invocations of a subgroup.
    pub(crate) subgroup: u32,
    /// The pipeline's statistics, by the driver's names.
    pub(crate) statistics: Vec<(String, u64)>,
    /// The compiler's intermediate texts by name. The last is the assembly.
    pub(crate) texts: Vec<(String, String)>,
}

/// A result of a driver's call, or a message.
type Found<T> = Result<T, String>;

fn failed(what: &str) -> impl Fn(vk::Result) -> String + '_ {
    move |error| format!("{what}: {error}")
}

fn text(raw: &[std::ffi::c_char]) -> String {
    let bytes: Vec<u8> = raw.iter().map(|&c| c.cast_unsigned()).collect();
    CStr::from_bytes_until_nul(&bytes)
        .map_or_else(|_| String::new(), |text| text.to_string_lossy().into_owned())
}

impl Device {
    /// Opens the first device as `wgpu_hal::vulkan` 30 does for this crate, or as the library does for unchecked access.
    ///
    /// # Errors
    /// A message if there is no loader, driver or device, or if the device cannot report about pipelines.
    pub(crate) fn open(access: Access) -> Found<Self> {
        // SAFETY: the library is the system's Vulkan loader, or the one that the runner provides.
        let entry = unsafe { ash::Entry::load() }.map_err(|error| format!("no Vulkan loader: {error}"))?;
        let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&app);
        // SAFETY: everything that `info` refers to lives until the call returns. This also holds for similar calls below.
        let instance = unsafe { entry.create_instance(&info, None) }.map_err(failed("no Vulkan instance"))?;
        // SAFETY: the instance is alive. This also holds for all handles below: nothing is destroyed before the program ends,
        // except the objects that `compile` creates.
        let all = unsafe { instance.enumerate_physical_devices() }.map_err(failed("no Vulkan device"))?;
        let physical = *all.first().ok_or("no Vulkan device")?;
        // SAFETY: as above.
        let listed = unsafe { instance.enumerate_device_extension_properties(physical) };
        let listed = listed.map_err(failed("the device's extensions"))?;
        let has = |name: &CStr| listed.iter().any(|one| one.extension_name_as_c_str() == Ok(name));
        let shown = ash::khr::pipeline_executable_properties::NAME;
        if !has(shown) {
            return Err(
                "the driver cannot report about pipelines (VK_KHR_pipeline_executable_properties)".into()
            );
        }
        let device = open(
            &instance,
            physical,
            [shown].into_iter().chain(OPTIONAL.into_iter().filter(|name| has(name))).collect(),
            access,
        )?;
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
        // SAFETY: as above.
        unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
        let driver = format!("{} {}", text(&driver.driver_name), text(&driver.driver_info));
        let executables = ash::khr::pipeline_executable_properties::Device::new(&instance, &device);
        Ok(Self { _entry: entry, device, executables, driver })
    }

    /// The driver's version of Mesa, such as `26.1.6`. For other drivers, their name and version.
    #[must_use]
    pub(crate) fn version(&self) -> String {
        let version =
            self.driver.rsplit_once("Mesa ").and_then(|(_, rest)| rest.split(['-', ' ', '(']).next());
        version.unwrap_or(&self.driver).to_owned()
    }

    /// Creates a kernel's pipeline as `wgpu_hal::vulkan` 30 does, with flags that capture the compiler's results.
    ///
    /// # Errors
    /// A message if the driver refuses the kernel.
    pub(crate) fn compile(&self, kernel: &Spirv) -> Found<Compiled> {
        let device = &self.device;
        let binding = |binding, kind| {
            let new = vk::DescriptorSetLayoutBinding::default().binding(binding).descriptor_type(kind);
            new.descriptor_count(1).stage_flags(vk::ShaderStageFlags::COMPUTE)
        };
        let storage = (0..kernel.storage_bindings).map(|i| binding(i, vk::DescriptorType::STORAGE_BUFFER));
        let storage: Vec<_> = storage.collect();
        let ring = [binding(0, vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC)];
        let mut sets = vec![&storage[..]];
        sets.extend(kernel.has_ring.then_some(&ring[..]));
        let range = vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE);
        let ranges = [range.size(kernel.immediate_bytes)];
        let ranges = if kernel.immediate_bytes > 0 { &ranges[..] } else { &[] };
        let sets: Result<Vec<_>, _> = sets
            .into_iter()
            .map(|bindings| {
                let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(bindings);
                // SAFETY: see `open`.
                unsafe { device.create_descriptor_set_layout(&info, None) }
            })
            .collect();
        let sets = sets.map_err(failed("a layout"))?;
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(ranges);
        // SAFETY: see `open`.
        let layout = unsafe { device.create_pipeline_layout(&info, None) }.map_err(failed("a layout"))?;
        let info = vk::ShaderModuleCreateInfo::default().code(&kernel.words);
        // SAFETY: naga has validated the module.
        let module = unsafe { device.create_shader_module(&info, None) }.map_err(failed("a module"))?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .flags(vk::PipelineShaderStageCreateFlags::ALLOW_VARYING_SUBGROUP_SIZE)
            .module(module)
            .name(c"main");
        let info = vk::ComputePipelineCreateInfo::default().layout(layout).stage(stage).flags(
            vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR
                | vk::PipelineCreateFlags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR,
        );
        // SAFETY: layout and module are alive, and the layout has every binding that the module declares.
        let created = unsafe { device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) };
        let pipeline = created.map_err(|(_, error)| format!("refused: {error}"))?[0];
        let compiled = self.report(pipeline);
        // SAFETY: nothing uses these objects any more.
        unsafe {
            device.destroy_pipeline(pipeline, None);
            device.destroy_shader_module(module, None);
            device.destroy_pipeline_layout(layout, None);
            sets.into_iter().for_each(|set| device.destroy_descriptor_set_layout(set, None));
        }
        compiled
    }

    /// The driver's report about a pipeline.
    fn report(&self, pipeline: vk::Pipeline) -> Found<Compiled> {
        let of = vk::PipelineInfoKHR::default().pipeline(pipeline);
        // SAFETY: the pipeline is alive, and was created with the flags that capture the queried data. This also holds below.
        let all = unsafe { self.executables.get_pipeline_executable_properties(&of) };
        let all = all.map_err(failed("its executables"))?;
        let [one] = &all[..] else { return Err(format!("{} executables of one kernel", all.len())) };
        let at = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline);
        // SAFETY: as above.
        let found = unsafe { self.executables.get_pipeline_executable_statistics(&at) };
        let found = found.map_err(failed("its statistics"))?;
        let statistics = found.iter().filter_map(|one| value(one).map(|value| (text(&one.name), value)));
        Ok(Compiled {
            subgroup: one.subgroup_size,
            statistics: statistics.collect(),
            texts: self.texts(&at)?,
        })
    }

    /// The compiler's intermediate texts, by name.
    fn texts(&self, at: &vk::PipelineExecutableInfoKHR<'_>) -> Found<Vec<(String, String)>> {
        // SAFETY: see `report`.
        let found = unsafe { self.executables.get_pipeline_executable_internal_representations(at) };
        let mut found = found.map_err(failed("its texts"))?;
        let mut texts: Vec<Vec<u8>> = found.iter().map(|one| vec![0; one.data_size]).collect();
        for (one, text) in found.iter_mut().zip(&mut texts) {
            one.p_data = text.as_mut_ptr().cast();
        }
        let mut count = u32::try_from(found.len()).expect("a few");
        let fill = self.executables.fp().get_pipeline_executable_internal_representations_khr;
        // NOTE: ash only queries the lengths.
        // SAFETY: each text has the length that the driver reported, and both lists have `count` entries.
        let filled = unsafe { fill(self.device.handle(), at, &mut count, found.as_mut_ptr()) };
        filled.result().map_err(failed("its texts"))?;
        let named = found.iter().zip(&texts).map(|(one, bytes)| {
            (text(&one.name), String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned())
        });
        Ok(named.collect())
    }
}

/// The value of an integer statistic. The few statistics of other types are ignored.
fn value(one: &vk::PipelineExecutableStatisticKHR<'_>) -> Option<u64> {
    use vk::PipelineExecutableStatisticFormatKHR as Format;
    // SAFETY: the format says which field of the union the driver has written.
    unsafe {
        match one.format {
            Format::UINT64 => Some(one.value.u64),
            Format::INT64 => u64::try_from(one.value.i64).ok(),
            _ => None,
        }
    }
}

/// `VkPhysicalDeviceCooperativeMatrix2FeaturesNV`, which `ash` does not know.
#[repr(C)]
struct Matrix2Features {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    /// `workgroupScope`, `flexibleDimensions`, `reductions`, `conversions`, `perElementOperations`, `tensorAddressing`, `blockLoads`.
    on: [vk::Bool32; 7],
}

impl Matrix2Features {
    /// Those of matrices that a subgroup holds.
    fn of_subgroups() -> Self {
        let [on, off] = [vk::TRUE, vk::FALSE];
        Self {
            s_type: vk::StructureType::from_raw(1_000_593_000),
            p_next: std::ptr::null_mut(),
            on: [off, on, on, on, on, off, off],
        }
    }

    /// Whether a driver has those: Mesa's ANV lists the extension, and has functions of elements alone.
    fn are_there(instance: &ash::Instance, physical: vk::PhysicalDevice) -> bool {
        let mut found = Self { on: [vk::FALSE; 7], ..Self::of_subgroups() };
        let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut found);
        // SAFETY: the physical device comes from that instance. The structs live until the call returns.
        unsafe { instance.get_physical_device_features2(physical, &mut features) };
        Self::of_subgroups()
            .on
            .iter()
            .zip(found.on)
            .all(|(wanted, has)| *wanted == vk::FALSE || has == vk::TRUE)
    }
}

// SAFETY: the struct is Vulkan's, which may be in this chain.
unsafe impl vk::ExtendsPhysicalDeviceFeatures2 for Matrix2Features {}

/// Extensions that wgpu or the library enables if the device has them.
const OPTIONAL: [&CStr; 3] =
    [ash::khr::cooperative_matrix::NAME, ash::ext::robustness2::NAME, c"VK_NV_cooperative_matrix2"];

/// Opens a device with the features that wgpu requests, as far as they affect kernels. For unchecked access, without
/// those of robust buffers.
fn open(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    extensions: Vec<&CStr>,
    access: Access,
) -> Found<ash::Device> {
    let has = |name: &CStr| extensions.contains(&name);
    let [has_matrices, has_robust2, has_matrix2] = OPTIONAL.map(has);
    let has_matrix2 = has_matrix2 && Matrix2Features::are_there(instance, physical);
    let is_robust = access == Access::Robust;
    let mut v11 = vk::PhysicalDeviceVulkan11Features::default()
        .storage_buffer16_bit_access(true)
        .uniform_and_storage_buffer16_bit_access(true);
    let mut v12 = vk::PhysicalDeviceVulkan12Features::default()
        .shader_float16(true)
        .shader_int8(true)
        .timeline_semaphore(true)
        .vulkan_memory_model(has_matrices)
        .vulkan_memory_model_device_scope(has_matrices);
    let mut v13 = vk::PhysicalDeviceVulkan13Features::default()
        .subgroup_size_control(true)
        .shader_integer_dot_product(true)
        .shader_zero_initialize_workgroup_memory(true)
        .maintenance4(true);
    let mut shown =
        vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default().pipeline_executable_info(true);
    let mut matrices = vk::PhysicalDeviceCooperativeMatrixFeaturesKHR::default().cooperative_matrix(true);
    let mut robustness = vk::PhysicalDeviceRobustness2FeaturesEXT::default()
        .robust_buffer_access2(true)
        .robust_image_access2(true);
    let core = vk::PhysicalDeviceFeatures::default().shader_int64(true).robust_buffer_access(is_robust);
    let mut features = vk::PhysicalDeviceFeatures2::default()
        .features(core)
        .push_next(&mut v11)
        .push_next(&mut v12)
        .push_next(&mut v13)
        .push_next(&mut shown);
    if has_matrices {
        features = features.push_next(&mut matrices);
    }
    let mut matrix2 = Matrix2Features::of_subgroups();
    if has_matrix2 {
        features = features.push_next(&mut matrix2);
    }
    if has_robust2 && is_robust {
        features = features.push_next(&mut robustness);
    }
    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
    let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&names)
        .push_next(&mut features);
    // SAFETY: see `Device::open`.
    unsafe { instance.create_device(physical, &info, None) }.map_err(failed("the device does not open"))
}
