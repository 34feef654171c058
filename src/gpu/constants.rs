//! The constants of plans on a device: uploaded once, and shared by all plans that have the same words.

use super::lock::Lock;
use super::pooled::Pooled;
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

    /// The buffer of a constant, if it is there.
    pub(super) fn get(&self, constant: &Constant) -> Option<Arc<Pooled>> {
        self.0.lock().get(constant).cloned()
    }

    /// The buffer of a constant: the one that is there, else `uploaded` from now on.
    pub(super) fn insert(&self, constant: &Constant, uploaded: Pooled) -> Arc<Pooled> {
        let uploaded = Arc::new(uploaded);
        let mut constants = self.0.lock();
        let kept = constants.entry(constant.clone()).or_insert_with(|| uploaded.clone()).clone();
        drop(constants);
        kept
    }
}
