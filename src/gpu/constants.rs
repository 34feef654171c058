//! The constants of plans on a device: uploaded once, and shared by all plans that have the same words.

use super::Gpu;
use super::lock::Lock;
use super::memory::Pooled;
use crate::Result;
use crate::plan::Constant;
use std::collections::HashMap;
use std::sync::Arc;

/// All constants that are on a device.
#[derive(Default)]
pub(super) struct Constants(Lock<HashMap<Constant, Arc<Pooled>>>);

impl Constants {
    /// Forgets all. The buffers of those that recordings still use go back once these have run. Returns whether there were any.
    pub(super) fn forget(&self) -> bool {
        let forgotten = std::mem::take(&mut *self.0.lock());
        !forgotten.is_empty()
    }
}

impl Gpu {
    /// A constant on this device: uploaded, unless the same words are there.
    pub(super) fn constant(&self, op: &'static str, constant: &Constant) -> Result<Arc<Pooled>> {
        let known = self.inner.constants.0.lock().get(constant).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        // Without the lock: two threads may upload the same words once each.
        let uploaded = Arc::new(self.upload(op, bytemuck::cast_slice(constant.words()))?.into_pooled());
        let mut constants = self.inner.constants.0.lock();
        let kept = constants.entry(constant.clone()).or_insert_with(|| uploaded.clone()).clone();
        drop(constants);
        Ok(kept)
    }
}
