//! A buffer of the pool, which goes back there when it is dropped.

use super::lock::Lock;
use super::pool::Pool;
use super::storage::Storage;
use std::sync::{Arc, Weak};

/// A buffer from the pool, which goes back when this is dropped. It keeps neither the pool nor the device alive.
pub(super) struct Pooled {
    pool: Weak<Lock<Pool<wgpu::Buffer>>>,
    storage: Arc<Storage>,
}

impl Pooled {
    pub(super) fn new(pool: &Arc<Lock<Pool<wgpu::Buffer>>>, storage: Storage) -> Self {
        Self { pool: Arc::downgrade(pool), storage: Arc::new(storage) }
    }

    pub(super) fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        // A device that is gone has taken its pool along.
        let Some(pool) = self.pool.upgrade() else { return };
        let Storage { buffer, mark, .. } = &*self.storage;
        let reusable = (!self.storage.is_exported()).then(|| (buffer.clone(), mark.last_use()));
        let given_up = pool.lock().give(buffer.size(), reusable);
        drop(given_up);
    }
}
