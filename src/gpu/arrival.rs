//! The news for a future that its bytes have come, or will never come.

use futures::task::AtomicWaker;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells a waiting future that its bytes are there, or that reading them has failed.
#[derive(Default)]
pub(super) struct Arrival {
    /// Whether wgpu has called back: then the map is no longer pending.
    pub(super) called_back: AtomicBool,
    /// Whether the future should go on.
    pub(super) told: AtomicBool,
    pub(super) waker: AtomicWaker,
}

impl Arrival {
    /// Wakes the future. A waker is foreign code, an executor may run its task in it: where it panics, whoever tells goes on,
    /// as others wait to be told.
    pub(super) fn tell(&self) {
        self.told.store(true, Ordering::Release);
        if catch_unwind(AssertUnwindSafe(|| self.waker.wake())).is_err() {
            log::error!("a task has panicked where it was woken");
        }
    }
}

/// Tells when it is dropped: wgpu drops a callback uncalled where another one panics.
pub(super) struct Told(pub(super) Arc<Arrival>);

impl Drop for Told {
    fn drop(&mut self) {
        self.0.tell();
    }
}
