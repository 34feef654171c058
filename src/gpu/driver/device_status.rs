//! The status of the device: whether it is lost.

use super::completion::Completion;
use super::lock::Lock;
use crate::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

/// Whether the device is lost, and why.
#[derive(Default)]
pub(crate) struct DeviceStatus {
    raised: AtomicBool,
    state: Lock<LossState>,
}

#[derive(Default)]
struct LossState {
    lost: Option<String>,
    /// An error that wgpu reported after its call had returned. Only in a browser; elsewhere error scopes catch the
    /// errors of our calls.
    late: Option<String>,
    /// Pending reads, which must be signalled if the device is lost: wgpu then drops their callbacks without running
    /// them.
    waiting: Vec<Weak<Completion>>,
}

impl DeviceStatus {
    /// Records that the device is lost, and signals the pending reads.
    pub(crate) fn mark_lost(&self, why: impl Into<String>) {
        let mut state = self.state.lock();
        state.lost.get_or_insert(why.into());
        self.raised.store(true, Ordering::Release);
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        signal_from_another_thread(waiting);
    }

    /// As [`mark_lost`](Self::mark_lost), because of an error of this crate.
    pub(in crate::gpu) fn mark_lost_by(&self, error: &Error) {
        self.mark_lost(match error {
            // `check` makes it an error of this kind again.
            Error::Device(why) => why.to_string(),
            error => error.to_string(),
        });
    }

    /// Registers a read to be signalled if the device is lost. If it is lost already, signals at once.
    pub(in crate::gpu) fn signal_if_lost(&self, completion: &Arc<Completion>) {
        let mut state = self.state.lock();
        if state.lost.is_some() {
            drop(state);
            return completion.signal();
        }
        if state.waiting.len() == state.waiting.capacity() {
            state.waiting.retain(|completion| completion.strong_count() > 0);
        }
        state.waiting.push(Arc::downgrade(completion));
    }

    /// Handles an error that none of our error scopes caught. On native platforms our calls cannot have caused it, but
    /// an application that uses the same device can. So it is logged, and no call of ours fails.
    pub(crate) fn report(&self, error: &wgpu::Error) {
        log::error!("an error that no call of this crate caused: {error}");
        if cfg!(target_arch = "wasm32") {
            let mut state = self.state.lock();
            state.late.get_or_insert(error.to_string());
            self.raised.store(true, Ordering::Release);
        }
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.state.lock().lost.is_some()
    }

    /// The current error, if any. A late error is returned once; the loss of the device is returned every time.
    pub(crate) fn check(&self) -> Result<()> {
        if !self.raised.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut state = self.state.lock();
        if let Some(why) = &state.lost {
            return Err(Error::device(format!("the device is lost: {why}")));
        }
        self.raised.store(false, Ordering::Release);
        state.late.take().map_or(Ok(()), |error| Err(Error::device(error)))
    }
}

/// Signals reads from a separate thread. NOTE: wgpu may hold locks of its own while it reports that the device is lost.
/// A waker is foreign code that may need these locks, for example because the task that it runs drops the last `Gpu`.
/// In a browser there are no such locks, and no threads.
fn signal_from_another_thread(waiting: Vec<Weak<Completion>>) {
    // The thread owns no read, because the last drop of a read may also drop the read's task.
    let tell = |waiting: &[Weak<Completion>]| {
        waiting.iter().filter_map(Weak::upgrade).for_each(|completion| completion.signal());
    };
    #[cfg(not(target_arch = "wasm32"))]
    let waiting = {
        if waiting.is_empty() {
            return;
        }
        let waiting = Arc::new(waiting);
        let theirs = waiting.clone();
        let thread = std::thread::Builder::new().name("tilewise loss".into());
        match thread.spawn(move || tell(&theirs)) {
            Ok(_) => return,
            // No thread could be started. Signalling here may deadlock, but without a signal the reads would wait
            // forever.
            Err(_) => waiting,
        }
    };
    tell(&waiting);
}
