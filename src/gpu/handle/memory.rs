//! Tensors' buffers, and whether their contents were computed.

use super::gpu::{Allocation, Gpu};
use crate::gpu::buffers::part::Part;
use crate::gpu::buffers::pooled_buffer::PooledBuffer;
use crate::gpu::buffers::storage::Storage;
use crate::gpu::record::scope::Sink;
use crate::{Error, Result};
use std::sync::Arc;

/// Usages of every buffer for tensors.
pub(in crate::gpu) const TENSOR_USAGES: wgpu::BufferUsages =
    wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC).union(wgpu::BufferUsages::COPY_DST);

impl Allocation {
    /// The storage of a buffer that an application supplies.
    pub(in crate::gpu) fn of_application(gpu: &Gpu, storage: Arc<Storage>) -> Self {
        Self { pooled: Arc::new(PooledBuffer::of_application(storage)), gpu: gpu.clone() }
    }

    pub(crate) fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    pub(crate) fn buffer(&self) -> &wgpu::Buffer {
        &self.pooled.storage().buffer
    }

    /// Requested size in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.pooled.storage().len
    }

    pub(crate) fn storage(&self) -> &Arc<Storage> {
        self.pooled.storage()
    }

    /// The buffer without its device.
    pub(in crate::gpu) fn into_pooled(self) -> Arc<PooledBuffer> {
        self.pooled
    }

    /// Fails if some of its contents were never computed, because a launch failed.
    pub(crate) fn check(&self) -> Result<()> {
        self.pooled.storage().contents.check(&Part::WHOLE)
    }

    /// Begins an operation that may write to the storage in several launches. Returns the operation's sequence.
    pub(crate) fn begin_write(&self) -> u64 {
        self.gpu.inner.recorder.lock().next_sequence()
    }

    /// Whether a launch that was recorded after `begun` writes to the storage.
    pub(crate) fn is_written_since(&self, begun: u64) -> bool {
        self.pooled.storage().contents.last_write() > begun
    }

    /// Marks a part of the contents as never computed because of `error`. From now on, reading it is an error. In the closure
    /// of `capture`, where nothing has run, the capture has failed instead.
    pub(in crate::gpu) fn fail(&self, part: &Part, error: &Error) {
        let mut state = self.gpu.inner.recorder.lock();
        if let Some(Sink::Capture(captured)) = state.scope().map(|scope| &mut scope.sink) {
            captured.failed.get_or_insert_with(|| error.to_string());
            return;
        }
        let sequence = state.next_sequence();
        drop(state);
        self.pooled.storage().contents.fail(sequence, part, &Arc::from(error.to_string()));
    }
}
