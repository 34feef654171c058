//! A compiled kernel, and how to bind its operands.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

/// A compiled kernel, and how to bind its operands.
pub(in crate::gpu) struct Pipeline {
    /// The name of its shader, without parameters: short enough for the errors of wgpu, which repeat it.
    pub(in crate::gpu) name: String,
    pub(in crate::gpu) pipeline: wgpu::ComputePipeline,
    pub(in crate::gpu) layout: Arc<BindingLayouts>,
    /// Whether the kernel writes each operand.
    pub(in crate::gpu) writes: Vec<bool>,
    /// How the kernel receives its dims.
    pub(in crate::gpu) dims: DimsPassing,
    /// The subgroup size, once it was queried.
    pub(in crate::gpu) subgroup_size: OnceLock<u32>,
    /// Sequence of its last launch.
    pub(in crate::gpu) last_use: AtomicU64,
}

/// How a kernel receives its dims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::gpu) enum DimsPassing {
    /// As immediates, with this many bytes.
    Immediates(u32),
    /// In the ring of the recording, at a dynamic offset.
    Ring,
}

/// Layouts, shared by kernels with the same bindings.
pub(in crate::gpu) struct BindingLayouts {
    pub(in crate::gpu) operands: wgpu::BindGroupLayout,
    pub(in crate::gpu) pipeline: wgpu::PipelineLayout,
}

impl Pipeline {
    /// Binds the operands, in the order in which the shader declares them.
    pub(in crate::gpu) fn bind<'a>(
        &self,
        device: &wgpu::Device,
        operands: impl Iterator<Item = wgpu::BindingResource<'a>>,
    ) -> wgpu::BindGroup {
        let entries: Vec<_> = (0..)
            .zip(operands)
            .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
            .collect();
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(&self.name),
            layout: &self.layout.operands,
            entries: &entries,
        })
    }
}
