//! A buffer that returns to its pool when it is dropped.

use super::lock::Lock;
use super::pool::Pool;
use super::storage::Storage;
use std::sync::{Arc, Weak};

/// A buffer from the pool, which returns there when this is dropped. It keeps neither the pool nor the device alive.
pub(super) struct PooledBuffer {
    pool: Weak<Lock<Pool<wgpu::Buffer>>>,
    storage: Arc<Storage>,
}

impl PooledBuffer {
    pub(super) fn new(pool: &Arc<Lock<Pool<wgpu::Buffer>>>, storage: Storage) -> Self {
        Self { pool: Arc::downgrade(pool), storage: Arc::new(storage) }
    }

    pub(super) fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        // The pool was dropped together with the device.
        let Some(pool) = self.pool.upgrade() else { return };
        let Storage { buffer, contents, .. } = &*self.storage;
        let reusable = (!self.storage.is_exported()).then(|| (buffer.clone(), contents.last_use()));
        let evicted = pool.lock().give(buffer.size(), reusable);
        drop(evicted);
    }
}
