//! The buffers that an application can access, and their storages. Two tensors of one buffer have one storage.

use super::handle::Gpu;
use super::lock::Lock;
use super::memory::Allocation;
use super::storage::Storage;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Weak};

/// The buffers that an application supplied, or received from [`Tensor::buffer`](crate::Tensor::buffer). This keeps no
/// buffer alive.
#[derive(Default)]
pub(super) struct KnownBuffers {
    hasher: RandomState,
    /// By hash of the buffer.
    known: Lock<HashMap<u64, Vec<Known>>>,
}

/// A buffer: its storage lives while a tensor or a recording uses it, its allocation while a tensor does.
struct Known {
    storage: Weak<Storage>,
    allocation: Weak<Allocation>,
}

impl Known {
    fn of(allocation: &Arc<Allocation>) -> Self {
        Self { storage: Arc::downgrade(allocation.storage()), allocation: Arc::downgrade(allocation) }
    }

    fn is_alive(&self) -> bool {
        self.storage.strong_count() > 0
    }
}

impl KnownBuffers {
    /// Adds the buffer of these tensors, unless it is known.
    pub(super) fn add(&self, allocation: &Arc<Allocation>) {
        self.known_or(allocation.buffer(), |_| allocation.clone());
    }

    /// The allocation of a buffer of this device: that of the tensors that share the buffer, or a new one.
    pub(super) fn allocation(&self, gpu: &Gpu, buffer: &wgpu::Buffer) -> Arc<Allocation> {
        self.known_or(buffer, |storage| {
            let storage = storage.unwrap_or_else(|| Arc::new(Storage::of_application(buffer.clone())));
            Arc::new(Allocation::of_application(gpu, storage))
        })
    }

    /// The known allocation of a buffer. If no tensor shares it any more, that which `new` returns for its storage, which
    /// recordings may still use.
    fn known_or(
        &self,
        buffer: &wgpu::Buffer,
        new: impl FnOnce(Option<Arc<Storage>>) -> Arc<Allocation>,
    ) -> Arc<Allocation> {
        // The last drop of a buffer may run foreign code, so the storages seen are dropped after the lock.
        let mut seen = Vec::new();
        let mut known = self.known.lock();
        if known.len() == known.capacity() {
            known.retain(|_, list| list.iter().any(Known::is_alive));
        }
        let list = known.entry(self.hasher.hash_one(buffer)).or_default();
        list.retain(Known::is_alive);
        let mut same = None;
        for (at, one) in list.iter().enumerate() {
            let Some(storage) = one.storage.upgrade() else { continue };
            if storage.buffer == *buffer {
                if let Some(allocation) = one.allocation.upgrade() {
                    seen.push(storage);
                    return allocation;
                }
                same = Some((at, storage));
                break;
            }
            seen.push(storage);
        }
        let (at, storage) = same.map_or((None, None), |(at, storage)| (Some(at), Some(storage)));
        let allocation = new(storage);
        match at {
            Some(at) => list[at] = Known::of(&allocation),
            None => list.push(Known::of(&allocation)),
        }
        allocation
    }
}
