//! Storages in the buffers of an application, and the buffers of tensors that it gets.

use crate::gpu::buffers::part::Part;
use crate::gpu::buffers::storage::{Storage, StorageAccess};
use crate::gpu::handle::gpu::{Allocation, Gpu};
use crate::layout::{DType, Layout, window};
use crate::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

impl Gpu {
    /// The storage in an application's buffer; a tensor uses these bytes of it. Tensors that share a buffer share the
    /// storage.
    ///
    /// Kernels bind [windows](window) of buffers, so the window of these bytes must end within the buffer. A buffer from
    /// the pool has a size that ensures it. The window begins within the buffer in any case.
    pub(crate) fn storage_in(
        &self,
        op: &'static str,
        buffer: &wgpu::Buffer,
        bytes: Range<u64>,
    ) -> Result<Arc<Allocation>> {
        self.inner.status.check()?;
        let wrong = |why: String| Err(Error::input(format!("{op}: the buffer"), why));
        if !buffer.usage().contains(wgpu::BufferUsages::STORAGE) {
            return wrong("it lacks `BufferUsages::STORAGE`, so no kernel can bind it".into());
        }
        if buffer.usage().intersects(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::MAP_WRITE) {
            let why = "it has `BufferUsages::MAP_READ` or `MAP_WRITE`, and no kernel may run while the host maps it; \
                       use a buffer without them";
            return wrong(why.into());
        }
        let (size, needed) = (buffer.size(), window(bytes.clone()).end);
        if bytes.end > size {
            return wrong(format!("it has {size} bytes, but the tensor takes bytes {bytes:?}"));
        }
        if needed > size {
            return wrong(format!(
                "it has {size} bytes, but a tensor of bytes {bytes:?} needs {needed}, because kernels read whole units \
                 of 16 bytes; create it with a size that is a multiple of 16"
            ));
        }
        #[cfg(not(target_arch = "wasm32"))]
        super::buffer_owner::check_usable(op, self, buffer)?;
        let allocation = self.allocation_of(buffer);
        if bytes.end > allocation.len() {
            let len = allocation.len();
            return wrong(format!(
                "it is that of a tensor of {len} bytes, but the new one takes bytes {bytes:?}"
            ));
        }
        Ok(allocation)
    }

    /// The allocation that the tensors of this buffer share, or a new one.
    fn allocation_of(&self, buffer: &wgpu::Buffer) -> Arc<Allocation> {
        self.inner.known_buffers.shared_or(buffer, |storage| {
            let storage = storage.unwrap_or_else(|| Arc::new(Storage::of_application(buffer.clone())));
            (storage.clone(), Arc::new(Allocation::of_application(self, storage)))
        })
    }

    /// The buffer with these elements, for use by an application. Submits the recorded launches that use it. The pool does not
    /// reuse the buffer for other tensors.
    pub(crate) fn export<'a>(
        &self,
        allocation: &'a Arc<Allocation>,
        (layout, dtype): (&Layout, DType),
    ) -> Result<&'a wgpu::Buffer> {
        self.inner.status.check()?;
        self.bring_word("buffer", allocation.storage())?;
        self.settle("buffer", allocation.storage(), StorageAccess::Reads)?;
        allocation.storage().contents.check(&Part::of(layout, dtype))?;
        allocation.pooled.storage().export();
        self.know_buffer(allocation);
        Ok(allocation.buffer())
    }

    /// Notes that the application can access a buffer, so that it can make further tensors of it.
    fn know_buffer(&self, allocation: &Arc<Allocation>) {
        let shared = |_| (allocation.storage().clone(), allocation.clone());
        self.inner.known_buffers.shared_or(allocation.buffer(), shared);
    }
}

impl Allocation {
    /// Whether the device may copy from the buffer, so that the host can read it.
    pub(crate) fn is_copy_source(&self) -> bool {
        self.buffer().usage().contains(wgpu::BufferUsages::COPY_SRC)
    }
}
