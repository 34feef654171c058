//! A buffer that returns to its pool when it is dropped.

use super::content_state::ContentState;
use super::storage::{Storage, StorageAccess};
use super::taken_work::FreedBuffer;
use super::tensor_pool::TensorPool;
use std::sync::{Arc, Weak};

/// A buffer from the pool, which returns there when this is dropped. It keeps neither the pool nor the device alive. A
/// buffer of an application belongs to no pool.
pub(in crate::gpu) struct PooledBuffer {
    pool: Weak<TensorPool>,
    storage: Arc<Storage>,
}

impl PooledBuffer {
    pub(in crate::gpu) fn new(pool: &Arc<TensorPool>, storage: Storage) -> Self {
        Self { pool: Arc::downgrade(pool), storage: Arc::new(storage) }
    }

    /// A buffer of an application.
    pub(in crate::gpu) fn of_application(storage: Arc<Storage>) -> Self {
        Self { pool: Weak::new(), storage }
    }

    /// A buffer that taken work has freed, for another tensor of the same work.
    pub(in crate::gpu) fn again(freed: FreedBuffer, len: u64) -> Self {
        let FreedBuffer { pool, buffer, last_use, users } = freed;
        let contents = ContentState::of_reused_buffer(last_use.unwrap_or_default());
        let storage = Storage::new(buffer, len, contents);
        // The work writes the buffer, even if it does not use this tensor.
        users.iter().for_each(|work| storage.taken.note(work, StorageAccess::Writes));
        Self { pool, storage: Arc::new(storage) }
    }

    pub(in crate::gpu) fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        // The pool was dropped together with the device, or the buffer belongs to none.
        if self.pool.strong_count() == 0 {
            return;
        }
        let Storage { buffer, contents, taken, .. } = &*self.storage;
        let freed = FreedBuffer {
            pool: self.pool.clone(),
            buffer: buffer.clone(),
            last_use: (!self.storage.is_exported()).then(|| contents.last_use()),
            users: taken.holders(),
        };
        freed.release();
    }
}
