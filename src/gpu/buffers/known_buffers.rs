//! The buffers that an application can access, and their storages. Two tensors of one buffer have one storage.

use super::storage::Storage;
use crate::gpu::driver::lock::Lock;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Weak};

/// The buffers that an application supplied, or received from [`Tensor::buffer`](crate::Tensor::buffer). This keeps no
/// buffer alive. `A` is the allocation, which the tensors of one buffer share.
pub(in crate::gpu) struct KnownBuffers<A> {
    hasher: RandomState,
    /// By hash of the buffer.
    known: Lock<HashMap<u64, Vec<KnownBuffer<A>>>>,
}

/// A buffer. Its storage lives while a tensor or a recording uses it, the allocation only while a tensor uses it.
struct KnownBuffer<A> {
    storage: Weak<Storage>,
    shared: Weak<A>,
}

impl<A> KnownBuffer<A> {
    fn is_alive(&self) -> bool {
        self.storage.strong_count() > 0
    }
}

impl<A> Default for KnownBuffers<A> {
    fn default() -> Self {
        Self { hasher: RandomState::new(), known: Lock::default() }
    }
}

impl<A> KnownBuffers<A> {
    /// The allocation that the tensors of a buffer share. If the buffer has no tensors, `new` makes it, with the storage
    /// that recordings still use, if any.
    pub(in crate::gpu) fn shared_or(
        &self,
        buffer: &wgpu::Buffer,
        new: impl FnOnce(Option<Arc<Storage>>) -> (Arc<Storage>, Arc<A>),
    ) -> Arc<A> {
        // The last drop of a buffer may run foreign code, so the storages seen are dropped after the lock.
        let mut seen = Vec::new();
        let mut known = self.known.lock();
        if known.len() == known.capacity() {
            known.retain(|_, list| list.iter().any(KnownBuffer::is_alive));
        }
        let list = known.entry(self.hasher.hash_one(buffer)).or_default();
        list.retain(KnownBuffer::is_alive);
        let mut same = None;
        for one in &*list {
            let Some(storage) = one.storage.upgrade() else { continue };
            if storage.buffer == *buffer {
                if let Some(shared) = one.shared.upgrade() {
                    seen.push(storage);
                    return shared;
                }
                same = Some(storage);
            } else {
                seen.push(storage);
            }
        }
        let (storage, shared) = new(same);
        list.retain(|one| !std::ptr::eq(one.storage.as_ptr(), Arc::as_ptr(&storage)));
        list.push(KnownBuffer { storage: Arc::downgrade(&storage), shared: Arc::downgrade(&shared) });
        seen.push(storage);
        shared
    }
}
