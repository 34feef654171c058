//! The dims of a recording's launches on devices without immediates: a uniform buffer, bound at dynamic offsets.

use super::pipeline::ring_layout;

/// Bytes between the dims of two launches: every device allows dynamic offsets of this alignment.
const STEP: usize = 256;

/// MemoryNeed for the dims of one recording. It is written when that recording is submitted, and another may take it afterwards:
/// the queue runs the next write after the launches that read this one.
pub(super) struct Ring {
    buffer: wgpu::Buffer,
    group: wgpu::BindGroup,
    bytes: Vec<u8>,
}

impl Ring {
    /// MemoryNeed for `launches`.
    pub(super) fn new(device: &wgpu::Device, launches: usize) -> Self {
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("tilewise dims"),
            size: (launches * STEP) as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let window =
            wgpu::BufferBinding { buffer: &buffer, offset: 0, size: std::num::NonZeroU64::new(STEP as u64) };
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("tilewise dims"),
            layout: &ring_layout(device),
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::Buffer(window) }],
        });
        Self { buffer, group, bytes: Vec::with_capacity(launches * STEP) }
    }

    pub(super) fn group(&self) -> &wgpu::BindGroup {
        &self.group
    }

    /// Removes the dims that were appended.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Appends one launch's dims; returns their offset.
    pub(super) fn push(&mut self, dims: &[u8]) -> wgpu::DynamicOffset {
        let offset = self.bytes.len();
        self.bytes.extend_from_slice(dims);
        self.bytes.resize(offset + STEP, 0);
        wgpu::DynamicOffset::try_from(offset).unwrap_or(wgpu::DynamicOffset::MAX)
    }

    /// Writes the appended dims, ahead of the next submission.
    pub(super) fn write(&mut self, queue: &wgpu::Queue) {
        if !self.bytes.is_empty() {
            queue.write_buffer(&self.buffer, 0, &self.bytes);
            self.bytes.clear();
        }
    }
}
