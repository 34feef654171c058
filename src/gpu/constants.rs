//! The constants of plans on a device. Each is uploaded once and shared by all plans with the same words.

use super::lock::Lock;
use super::pooled_buffer::PooledBuffer;
use crate::plan::Constant;
use std::collections::HashMap;
use std::sync::Arc;

/// The constants that are on the device now.
#[derive(Default)]
pub(super) struct Constants(Lock<HashMap<Constant, Arc<PooledBuffer>>>);

impl Constants {
    /// Drops all constants; returns whether there were any. A buffer that a recording still uses returns to the pool
    /// after that recording has run.
    pub(super) fn forget(&self) -> bool {
        let forgotten = std::mem::take(&mut *self.0.lock());
        !forgotten.is_empty()
    }

    /// The buffer of a constant, if it has been uploaded.
    pub(super) fn get(&self, constant: &Constant) -> Option<Arc<PooledBuffer>> {
        self.0.lock().get(constant).cloned()
    }

    /// The buffer of a constant: the existing one, if another thread has uploaded it in the meantime, else `uploaded`.
    pub(super) fn insert(&self, constant: &Constant, uploaded: Arc<PooledBuffer>) -> Arc<PooledBuffer> {
        let mut constants = self.0.lock();
        let shared = constants.entry(constant.clone()).or_insert_with(|| uploaded.clone()).clone();
        drop(constants);
        shared
    }
}
