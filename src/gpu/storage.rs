//! What a tensor's bytes lie in, as recordings hold it: a buffer, and what is known of its contents.

use super::mark::Mark;

/// A buffer from the pool and the state of its contents. Recordings share it with the tensors.
pub(crate) struct Storage {
    pub(super) buffer: wgpu::Buffer,
    /// Bytes that were asked for: a write of so many from the start is a write of all.
    pub(super) len: u64,
    pub(super) mark: Mark,
}
