//! A compiled kernel, and how to bind its operands.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

/// A compiled kernel, and how to bind its operands.
pub(super) struct Pipeline {
    /// The name of its shader, without parameters: short enough for the errors of wgpu, which repeat it.
    pub(super) name: String,
    pub(super) pipeline: wgpu::ComputePipeline,
    pub(super) layout: Arc<BindingLayouts>,
    /// Whether the kernel writes each operand.
    pub(super) writes: Vec<bool>,
    /// How the kernel receives its dims.
    pub(super) dims: Dims,
    /// The subgroup size, once it was asked for.
    pub(super) subgroup_size: OnceLock<u32>,
    /// Sequence of its last launch.
    pub(super) last_use: AtomicU64,
}

/// How a kernel receives its dims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Dims {
    /// As immediates, with this many bytes.
    Immediates(u32),
    /// In the ring of the recording, at a dynamic offset.
    Ring,
}

/// Layouts of kernels that bind alike.
pub(super) struct BindingLayouts {
    pub(super) operands: wgpu::BindGroupLayout,
    pub(super) pipeline: wgpu::PipelineLayout,
}

impl Pipeline {
    /// Binds the operands, in the order in which the shader declares them.
    pub(super) fn bind<'a>(
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
