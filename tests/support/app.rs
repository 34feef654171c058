//! What an application makes on its device, in a line each.

use tilewise::Gpu;
use wgpu::{BufferUsages, TextureFormat, TextureUsages};

/// A buffer that is not mapped.
pub fn buffer(device: &wgpu::Device, size: u64, usage: BufferUsages) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
}

/// A flat texture with one mip level.
pub fn image(
    format: TextureFormat,
    [width, height]: [u32; 2],
    usage: TextureUsages,
) -> wgpu::TextureDescriptor<'static> {
    wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage,
        view_formats: &[],
    }
}

/// The module of a text.
pub fn module(device: &wgpu::Device, text: &str) -> wgpu::ShaderModule {
    let source = wgpu::ShaderSource::Wgsl(text.into());
    device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some("the application's"), source })
}

/// The pipeline of a text's only entry point.
pub fn pipeline(device: &wgpu::Device, text: &str) -> wgpu::ComputePipeline {
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("the application's"),
        layout: None,
        module: &module(device, text),
        entry_point: None,
        compilation_options: Default::default(),
        cache: None,
    })
}

/// A window of a buffer.
pub fn window(buffer: &wgpu::Buffer, bytes: std::ops::Range<u64>) -> wgpu::BindingResource<'_> {
    let size = std::num::NonZeroU64::new(bytes.end - bytes.start);
    wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset: bytes.start, size })
}

/// A launch of a text's only entry point, with these resources as bindings 0 and on.
pub fn launched<'a>(
    device: &wgpu::Device,
    text: &str,
    resources: impl IntoIterator<Item = wgpu::BindingResource<'a>>,
    workgroups: usize,
) -> wgpu::CommandBuffer {
    let pipeline = pipeline(device, text);
    let entries = (0..).zip(resources).map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource });
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &entries.collect::<Vec<_>>(),
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(u32::try_from(workgroups).expect("few"), 1, 1);
    drop(pass);
    encoder.finish()
}

/// Commands that wgpu refuses, because their buffer is destroyed.
pub fn refused_commands(gpu: &Gpu) -> wgpu::CommandBuffer {
    let gone = buffer(gpu.device(), 8, BufferUsages::COPY_SRC | BufferUsages::COPY_DST);
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    encoder.clear_buffer(&gone, 0, None);
    let commands = encoder.finish();
    gone.destroy();
    commands
}
