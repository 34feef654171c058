//! The constants of plans on a device. Each is uploaded once and shared by all plans with the same words.

use super::pooled_buffer::PooledBuffer;
use crate::gpu::driver::lock::Lock;
use crate::plan::Constant;
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of constants on the device. Past it, or past [`MAX_BYTES`], all of them are dropped, and those that
/// plans still use are uploaded again.
const MAX_CONSTANTS: usize = 4096;

/// Maximum size of all constants in bytes. A larger one is kept alone.
const MAX_BYTES: u64 = 64 << 20;

/// The constants that are on the device now.
#[derive(Default)]
pub(in crate::gpu) struct Constants(Lock<KnownConstants>);

#[derive(Default)]
struct KnownConstants {
    buffers: HashMap<Constant, Arc<PooledBuffer>>,
    bytes: u64,
}

impl Constants {
    /// Drops all constants; returns whether there were any. A buffer that a recording still uses returns to the pool
    /// after that recording has run.
    pub(in crate::gpu) fn forget(&self) -> bool {
        let forgotten = std::mem::take(&mut *self.0.lock());
        !forgotten.buffers.is_empty()
    }

    /// The buffer of a constant, if it has been uploaded.
    pub(in crate::gpu) fn get(&self, constant: &Constant) -> Option<Arc<PooledBuffer>> {
        self.0.lock().buffers.get(constant).cloned()
    }

    /// The buffer of a constant: the existing one, if another thread has uploaded it in the meantime, else `uploaded`.
    pub(in crate::gpu) fn insert(
        &self,
        constant: &Constant,
        uploaded: Arc<PooledBuffer>,
    ) -> Arc<PooledBuffer> {
        let mut known = self.0.lock();
        if let Some(shared) = known.buffers.get(constant) {
            let shared = shared.clone();
            drop(known);
            return shared;
        }
        let is_full = known.buffers.len() == MAX_CONSTANTS || known.bytes + constant.bytes() > MAX_BYTES;
        let forgotten = if is_full { std::mem::take(&mut *known) } else { KnownConstants::default() };
        known.bytes += constant.bytes();
        known.buffers.insert(constant.clone(), uploaded.clone());
        drop(known);
        drop(forgotten);
        uploaded
    }
}
