//! Functions of the shaders by themselves.

use tilewise::planning::kernel::INCLUDES;
use tilewise::{Gpu, wgpu};

/// The functions of an include.
pub fn functions_of(file: &str) -> String {
    INCLUDES.iter().find(|(name, _)| *name == file).expect("there is such a file").1.replace("//!", "//")
}

/// The functions of a variant of an include, with what its slots bring left out.
pub fn variant_of(file: &str, variant: &str) -> String {
    let text = functions_of(file);
    let mut variants = text.split("//#variant ").skip(1);
    let found = variants.find(|text| text.lines().next() == Some(variant)).expect("there is such a variant");
    found.lines().skip(1).map(|line| format!("{line}\n")).collect()
}

/// An expression of `v`, four elements, in these functions, of every element, in a shader of the test's own.
pub fn evaluate(gpu: &Gpu, x: &[f32], functions: &str, expression: &str) -> Vec<f32> {
    let text = format!(
        "alias lanes = vec4<f32>;\n\
         @group(0) @binding(0) var<storage, read_write> x: array<lanes>;\n{functions}\n\
         @compute @workgroup_size(64)\n\
         fn main(@builtin(global_invocation_id) id: vec3<u32>) {{\n\
         if id.x < arrayLength(&x) {{ let v = x[id.x]; x[id.x] = {expression}; }}\n}}\n"
    );
    let mut padded = x.to_vec();
    padded.resize(x.len().next_multiple_of(4), 0.0);
    let tensor = gpu.tensor(&padded, [padded.len()]).unwrap();
    let (buffer, bytes) = tensor.buffer().unwrap();
    gpu.flush().unwrap();
    let source = wgpu::ShaderSource::Wgsl(text.into());
    let module = gpu.device().create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    let pipeline = gpu.device().create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: None,
        compilation_options: Default::default(),
        cache: None,
    });
    let size = std::num::NonZeroU64::new(bytes.end);
    let window = wgpu::BufferBinding { buffer, offset: 0, size };
    let group = gpu.device().create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::Buffer(window) }],
    });
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(u32::try_from(padded.len().div_ceil(256)).unwrap(), 1, 1);
    }
    gpu.queue().submit([encoder.finish()]);
    let values: Vec<f32> = bytemuck::pod_collect_to_vec(&super::operand::read_bytes(gpu, buffer));
    values[..x.len()].to_vec()
}
