//! The pool of tensors' buffers, and the replays that have bound some of them.

use super::pool::Pool;
use crate::gpu::driver::lock::{Lock, Locked};
use std::sync::{Arc, Weak};

/// The pool of a device's buffers for tensors.
///
/// The bind groups of a replay keep the buffers of its last inputs alive, also while they are free. So buffers that leave
/// the pool are dropped here, together with the bind groups that hold them.
pub(in crate::gpu) struct TensorPool {
    pool: Lock<Pool<wgpu::Buffer>>,
    replays: Lock<Vec<Weak<dyn HoldsBuffers>>>,
}

/// An object that holds buffers longer than their tensors do, and can release them.
pub(in crate::gpu) trait HoldsBuffers: wgpu::WasmNotSendSync {
    /// Releases the buffers that have left the pool. The caller holds no lock.
    fn let_go(&self, is_gone: &dyn Fn(&wgpu::Buffer) -> bool);
}

impl TensorPool {
    pub(in crate::gpu) fn new(pool: Pool<wgpu::Buffer>) -> Arc<Self> {
        Arc::new(Self { pool: Lock::new(pool), replays: Lock::default() })
    }

    pub(in crate::gpu) fn lock(&self) -> Locked<'_, Pool<wgpu::Buffer>> {
        self.pool.lock()
    }

    /// Returns a buffer of `size` to the pool; without `last_use`, only its bytes. The caller holds no lock.
    pub(in crate::gpu) fn give(&self, size: u64, buffer: wgpu::Buffer, last_use: Option<u64>) {
        match last_use {
            Some(last_use) => {
                let evicted = self.pool.lock().give(size, Some((buffer, last_use)));
                self.drop_evicted(evicted);
            }
            None => {
                let evicted = self.pool.lock().give(size, None);
                debug_assert!(evicted.is_empty(), "no buffer has become free");
                self.drop_evicted(vec![buffer]);
            }
        }
    }

    /// Drops buffers that have left the pool. The caller holds no lock.
    pub(in crate::gpu) fn drop_evicted(&self, evicted: Vec<wgpu::Buffer>) {
        if !evicted.is_empty() {
            self.unbind(&|buffer| evicted.contains(buffer));
        }
    }

    /// Drops the bind groups of all replays, which create new ones for their next inputs. The caller holds no lock.
    pub(in crate::gpu) fn unbind_all(&self) {
        self.unbind(&|_| true);
    }

    /// From now on, a replay drops the bind groups of buffers that leave the pool.
    pub(in crate::gpu) fn add_replay(&self, bound: Weak<dyn HoldsBuffers>) {
        let mut replays = self.replays.lock();
        if replays.len() == replays.capacity() {
            replays.retain(|replay| replay.strong_count() > 0);
        }
        replays.push(bound);
    }

    fn unbind(&self, is_gone: &dyn Fn(&wgpu::Buffer) -> bool) {
        let replays: Vec<_> = self.replays.lock().iter().filter_map(Weak::upgrade).collect();
        replays.iter().for_each(|replay| replay.let_go(is_gone));
    }
}
