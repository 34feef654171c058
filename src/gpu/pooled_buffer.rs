//! A buffer that returns to its pool when it is dropped.

use super::lock::Lock;
use super::pool::Pool;
use super::storage::Storage;
use std::sync::{Arc, Weak};

/// A buffer from the pool, which returns there when this is dropped. It keeps neither the pool nor the device alive. A
/// buffer of an application belongs to no pool.
pub(super) struct PooledBuffer {
    pool: Weak<Lock<Pool<wgpu::Buffer>>>,
    storage: Arc<Storage>,
}

impl PooledBuffer {
    pub(super) fn new(pool: &Arc<Lock<Pool<wgpu::Buffer>>>, storage: Storage) -> Self {
        Self { pool: Arc::downgrade(pool), storage: Arc::new(storage) }
    }

    /// A buffer of an application.
    pub(super) fn of_application(storage: Arc<Storage>) -> Self {
        Self { pool: Weak::new(), storage }
    }

    pub(super) fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        // The pool was dropped together with the device, or the buffer belongs to none.
        let Some(pool) = self.pool.upgrade() else { return };
        let Storage { buffer, contents, .. } = &*self.storage;
        let reusable = (!self.storage.is_exported()).then(|| (buffer.clone(), contents.last_use()));
        let evicted = pool.lock().give(buffer.size(), reusable);
        drop(evicted);
    }
}
