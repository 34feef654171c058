//! What a tensor's bytes lie in, as recordings hold it: a buffer, and what is known of its contents.

use super::mark::Mark;
use std::sync::atomic::{AtomicBool, Ordering};

/// A buffer from the pool and the state of its contents. Recordings share it with the tensors.
pub(crate) struct Storage {
    pub(super) buffer: wgpu::Buffer,
    /// Bytes that were asked for: a write of so many from the start is a write of all.
    pub(super) len: u64,
    pub(super) mark: Mark,
    exported: AtomicBool,
}

impl Storage {
    pub(super) fn new(buffer: wgpu::Buffer, len: u64, mark: Mark) -> Self {
        Self { buffer, len, mark, exported: AtomicBool::new(false) }
    }

    /// Notes that an application has seen the buffer.
    pub(super) fn export(&self) {
        self.exported.store(true, Ordering::Relaxed);
    }

    /// Whether an application has seen the buffer: it may have destroyed it, or work of its own may still use it. So it is
    /// not handed out again.
    pub(super) fn is_exported(&self) -> bool {
        self.exported.load(Ordering::Relaxed)
    }
}
