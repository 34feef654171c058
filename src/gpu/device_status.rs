//! The loss of the device, and the errors of wgpu's calls, which all go through here.

use super::completion::Completion;
use super::lock::Lock;
use crate::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

/// Whether the device is known to be lost, and why.
#[derive(Default)]
pub(crate) struct DeviceStatus {
    raised: AtomicBool,
    state: Lock<State>,
}

#[derive(Default)]
struct State {
    lost: Option<String>,
    /// An error that wgpu reported after its call had returned. In a browser only: elsewhere error scopes catch ours.
    late: Option<String>,
    /// Reads that nobody would tell of a loss: wgpu drops their callbacks uncalled.
    waiting: Vec<Weak<Completion>>,
}

impl DeviceStatus {
    /// Keeps that the device is lost, and has the reads that wait told.
    pub(crate) fn mark_lost(&self, why: impl Into<String>) {
        let mut state = self.state.lock();
        state.lost.get_or_insert(why.into());
        self.raised.store(true, Ordering::Release);
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        signal_from_another_thread(waiting);
    }

    /// Has a read told when the device is lost.
    pub(super) fn signal_if_lost(&self, completion: &Arc<Completion>) {
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

    /// Handles an error that none of our error scopes in_error_scope. On native platforms no call of ours can have caused it, but an
    /// application that uses the device, too: so it is logged, and fails nothing of ours.
    pub(crate) fn report(&self, error: &wgpu::Error) {
        log::error!("an error outside of this crate's own calls: {error}");
        if cfg!(target_arch = "wasm32") {
            let mut state = self.state.lock();
            state.late.get_or_insert(error.to_string());
            self.raised.store(true, Ordering::Release);
        }
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.state.lock().lost.is_some()
    }

    /// The pending error, if any. A late one is returned once; a loss every time.
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

/// Tells reads in a thread of its own. NOTE: wgpu may hold locks of its own where it says that the device is lost. A
/// waker is foreign code, which may need them: a task that it runs may drop the last `Gpu`. In a browser there are no
/// such locks, and no threads.
fn signal_from_another_thread(waiting: Vec<Weak<Completion>>) {
    // The thread holds no read: the last drop of one may be that of its task.
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
            // Told here, they may hang; untold, they would.
            Err(_) => waiting,
        }
    };
    tell(&waiting);
}
