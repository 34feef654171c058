//! The application's own compute shader, which fills a buffer with numbers, and the same numbers on the host.
#![expect(unsafe_code, reason = "Vulkan is called without a library that checks the calls")]

use super::application::Application;
use super::buffer::Buffer;
use super::program::checked;
use tilewise::gpu::ash::vk;
use tilewise::{DType, Element, Error, Result};

/// Any SPIR-V would do. This one is compiled from WGSL when the application starts.
const SHADER: &str = "
@group(0) @binding(0) var<storage, read_write> words: array<u32>;

// One of 2048 numbers from -1 to 1, each exact in f16.
fn value(element: u32) -> f32 {
    var x = (element + SEED) * 0x9e3779b9u;
    x = (x ^ (x >> 16u)) * 0x85ebca6bu;
    x = x ^ (x >> 13u);
    return (f32(x & 2047u) - 1023.5) / 1024.0;
}

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let word = id.x;
    if word < arrayLength(&words) {
        words[word] = WORD;
    }
}
";

/// The numbers that the shader writes.
pub(crate) fn values<T: Element>(len: usize, seed: u32) -> Vec<T> {
    let value = |element: u32| {
        let x = element.wrapping_add(seed).wrapping_mul(0x9e37_79b9);
        let x = (x ^ (x >> 16)).wrapping_mul(0x85eb_ca6b);
        let x = x ^ (x >> 13);
        T::from_f64((f64::from(x & 2047) - 1023.5) / 1024.0)
    };
    (0..).take(len).map(value).collect()
}

pub(crate) struct Fill<'a> {
    application: &'a Application,
    dtype: DType,
    bindings: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
}

impl<'a> Fill<'a> {
    pub(crate) fn new(application: &'a Application, dtype: DType) -> Result<Self> {
        let device = &application.device;
        let binding = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&binding);
        // SAFETY: the device is alive.
        unsafe {
            let bindings = checked("bindings", device.create_descriptor_set_layout(&info, None))?;
            let sets = [bindings];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
            let layout = checked("a layout", device.create_pipeline_layout(&info, None))?;
            Ok(Self { application, dtype, bindings, layout })
        }
    }

    /// Fills a buffer and waits.
    pub(crate) fn run(&self, buffer: &Buffer<'_>, seed: u32) -> Result<()> {
        let device = &self.application.device;
        let words = spirv(self.dtype, seed)?;
        let size =
            [vk::DescriptorPoolSize::default().ty(vk::DescriptorType::STORAGE_BUFFER).descriptor_count(1)];
        let (layouts, whole) = (
            [self.bindings],
            [vk::DescriptorBufferInfo::default().buffer(buffer.handle).range(vk::WHOLE_SIZE)],
        );
        let groups = u32::try_from(buffer.size.div_ceil(4 * 256)).unwrap_or(u32::MAX);
        // SAFETY: all objects are this device's. What the commands use is destroyed after they have run.
        unsafe {
            let info = vk::ShaderModuleCreateInfo::default().code(&words);
            let module = checked("the shader", device.create_shader_module(&info, None))?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(self.layout)];
            let pipeline = device.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
            let pipeline = checked("the pipeline", pipeline.map_err(|(_, error)| error))?[0];
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&size);
            let pool = checked("a pool", device.create_descriptor_pool(&info, None))?;
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            let sets = checked("a set", device.allocate_descriptor_sets(&info))?;
            let write = [vk::WriteDescriptorSet::default()
                .dst_set(sets[0])
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .buffer_info(&whole)];
            device.update_descriptor_sets(&write, &[]);
            let submitted = self.application.submit(|commands| {
                let point = vk::PipelineBindPoint::COMPUTE;
                device.cmd_bind_pipeline(commands, point, pipeline);
                device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &sets, &[]);
                device.cmd_dispatch(commands, groups, 1, 1);
                self.application.barrier(commands);
            });
            device.destroy_descriptor_pool(pool, None);
            device.destroy_pipeline(pipeline, None);
            device.destroy_shader_module(module, None);
            submitted
        }
    }
}

impl Drop for Fill<'_> {
    fn drop(&mut self) {
        // SAFETY: the commands that used them have run.
        unsafe {
            self.application.device.destroy_pipeline_layout(self.layout, None);
            self.application.device.destroy_descriptor_set_layout(self.bindings, None);
        }
    }
}

/// The shader as SPIR-V for Vulkan 1.2.
fn spirv(dtype: DType, seed: u32) -> Result<Vec<u32>> {
    let word = match dtype {
        DType::F16 => "pack2x16float(vec2(value(2u * word), value(2u * word + 1u)))",
        _ => "bitcast<u32>(value(word))",
    };
    let text = SHADER.replace("SEED", &format!("{seed}u")).replace("WORD", word);
    let failed = |error: String| Error::Device(format!("the shader: {error}").into());
    let module = naga::front::wgsl::parse_str(&text).map_err(|error| failed(error.to_string()))?;
    let (flags, capabilities) =
        (naga::valid::ValidationFlags::all(), naga::valid::Capabilities::SHADER_FLOAT16_IN_FLOAT32);
    let info = naga::valid::Validator::new(flags, capabilities).validate(&module);
    let info = info.map_err(|error| failed(error.to_string()))?;
    let options = naga::back::spv::Options { lang_version: (1, 5), ..Default::default() };
    naga::back::spv::write_vec(&module, &info, &options, None).map_err(|error| failed(error.to_string()))
}
