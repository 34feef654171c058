//! The ring: a uniform buffer, bound at dynamic offsets, with the dims of a recording's launches. Used on devices
//! without immediates.

use super::pipelines::ring_layout;

/// Number of launches whose dims fit in one ring.
pub(in crate::gpu) const MAX_LAUNCHES: usize = 64;

/// Bytes from one launch's dims to the next. Every device allows dynamic offsets with this alignment.
pub(in crate::gpu) const STEP: usize = 256;

/// Space for the dims of one recording. It is written when that recording is submitted. Another recording may use it
/// afterwards, because the queue runs the next write after the launches that read this one.
pub(in crate::gpu) struct Ring {
    buffer: wgpu::Buffer,
    group: wgpu::BindGroup,
    bytes: Vec<u8>,
}

impl Ring {
    /// A ring with space for `launches` launches, at most [`MAX_LAUNCHES`].
    pub(in crate::gpu) fn new(device: &wgpu::Device, launches: usize) -> Self {
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

    pub(in crate::gpu) fn group(&self) -> &wgpu::BindGroup {
        &self.group
    }

    /// Removes all dims.
    pub(in crate::gpu) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Appends the dims of one launch. Returns their offset.
    pub(in crate::gpu) fn push(&mut self, dims: &[u8]) -> wgpu::DynamicOffset {
        let offset = self.bytes.len();
        self.bytes.extend_from_slice(dims);
        self.bytes.resize(offset + STEP, 0);
        wgpu::DynamicOffset::try_from(offset).unwrap_or(wgpu::DynamicOffset::MAX)
    }

    /// Writes the dims to the buffer. The queue runs this write before the next submission.
    pub(in crate::gpu) fn write(&mut self, queue: &wgpu::Queue) {
        if !self.bytes.is_empty() {
            queue.write_buffer(&self.buffer, 0, &self.bytes);
            self.bytes.clear();
        }
    }
}
