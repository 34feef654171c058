//! The storage of a tensor: a buffer and the state of its contents.

use super::content_state::ContentState;
use super::taken_uses::TakenUses;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A buffer, from the pool or of an application, and the state of its contents. Tensors and recordings share it.
pub(crate) struct Storage {
    pub(super) buffer: wgpu::Buffer,
    /// Requested size in bytes; for a buffer of an application, its size. A write of that many bytes from the start is a write of the whole storage.
    pub(super) len: u64,
    pub(super) contents: Arc<ContentState>,
    /// The work of applications that uses it.
    pub(super) taken: TakenUses,
    exported: AtomicBool,
}

impl Storage {
    pub(super) fn new(buffer: wgpu::Buffer, len: u64, contents: ContentState) -> Self {
        let (contents, taken) = (Arc::new(contents), TakenUses::default());
        Self { buffer, len, contents, taken, exported: AtomicBool::new(false) }
    }

    /// The storage of a buffer that an application supplies.
    pub(super) fn of_application(buffer: wgpu::Buffer) -> Self {
        let len = buffer.size();
        let (contents, taken) = (Arc::default(), TakenUses::default());
        Self { buffer, len, contents, taken, exported: AtomicBool::new(true) }
    }

    /// Records that the application has access to the buffer.
    pub(super) fn export(&self) {
        self.exported.store(true, Ordering::Relaxed);
    }

    /// Whether the application has access to the buffer. It may have destroyed the buffer or still use it in its own
    /// work, so the pool does not reuse the buffer.
    pub(super) fn is_exported(&self) -> bool {
        self.exported.load(Ordering::Relaxed)
    }
}
