//! A tensor's storage, which recordings hold, too: a buffer and the state of its contents.

use super::content_state::ContentState;
use std::sync::atomic::{AtomicBool, Ordering};

/// A buffer from the pool and the state of its contents. Tensors and recordings share it.
pub(crate) struct Storage {
    pub(super) buffer: wgpu::Buffer,
    /// The size in bytes that was asked for: a write of that many from the start writes the whole storage.
    pub(super) len: u64,
    pub(super) contents: ContentState,
    exported: AtomicBool,
}

impl Storage {
    pub(super) fn new(buffer: wgpu::Buffer, len: u64, contents: ContentState) -> Self {
        Self { buffer, len, contents, exported: AtomicBool::new(false) }
    }

    /// Notes that the application has got the buffer.
    pub(super) fn export(&self) {
        self.exported.store(true, Ordering::Relaxed);
    }

    /// Whether the application has got the buffer. It may have destroyed the buffer, or still use it in work of its own: so the
    /// buffer is not reused.
    pub(super) fn is_exported(&self) -> bool {
        self.exported.load(Ordering::Relaxed)
    }
}
