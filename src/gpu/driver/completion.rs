//! The signal that wakes a future when its read has completed or failed.

use futures_util::task::AtomicWaker;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Signals a waiting future that its bytes are available, or that reading them has failed.
#[derive(Default)]
pub(in crate::gpu) struct Completion {
    /// Whether wgpu has run the map callback, so that the map is no longer pending.
    pub(in crate::gpu) called_back: AtomicBool,
    /// Whether wgpu has refused the map. The buffer then may still show the bytes of an earlier one.
    pub(in crate::gpu) was_refused: AtomicBool,
    /// Whether the future may continue.
    pub(in crate::gpu) is_signalled: AtomicBool,
    pub(in crate::gpu) waker: AtomicWaker,
}

impl Completion {
    /// Wakes the future. A waker is foreign code: an executor may run its task inside. If the task panics, the panic is
    /// logged and the caller continues, because other futures wait for its signal.
    pub(in crate::gpu) fn signal(&self) {
        self.is_signalled.store(true, Ordering::Release);
        if catch_unwind(AssertUnwindSafe(|| self.waker.wake())).is_err() {
            log::error!("a task panicked while it was woken");
        }
    }
}

/// Signals when it is dropped: if another callback panics, wgpu drops this one without running it.
pub(in crate::gpu) struct SignalOnDrop(pub(in crate::gpu) Arc<Completion>);

impl Drop for SignalOnDrop {
    fn drop(&mut self) {
        self.0.signal();
    }
}
