//! The loss of the device, and the errors of wgpu's calls, which all go through here.

use super::arrival::Arrival;
use super::lock::Lock;

use crate::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

/// Whether the device is known to be lost, and why.
#[derive(Default)]
pub(crate) struct Fault {
    raised: AtomicBool,
    state: Lock<State>,
}

#[derive(Default)]
struct State {
    lost: Option<String>,
    /// An error that wgpu reported after its call had returned. In a browser only: elsewhere error scopes catch ours.
    late: Option<String>,
    /// Reads that nobody would tell of a loss: wgpu drops their callbacks uncalled.
    waiting: Vec<Weak<Arrival>>,
}

impl Fault {
    /// Keeps that the device is lost, and has the reads that wait told.
    pub(crate) fn mark_lost(&self, why: impl Into<String>) {
        let mut state = self.state.lock();
        state.lost.get_or_insert(why.into());
        self.raised.store(true, Ordering::Release);
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        tell_elsewhere(waiting);
    }

    /// Has a read told when the device is lost.
    pub(super) fn tell_if_lost(&self, arrival: &Arc<Arrival>) {
        let mut state = self.state.lock();
        if state.lost.is_some() {
            drop(state);
            return arrival.tell();
        }
        if state.waiting.len() == state.waiting.capacity() {
            state.waiting.retain(|arrival| arrival.strong_count() > 0);
        }
        state.waiting.push(Arc::downgrade(arrival));
    }

    /// Handles an error that none of our error scopes caught. On native platforms no call of ours can have caused it, but an
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
fn tell_elsewhere(waiting: Vec<Weak<Arrival>>) {
    // The thread holds no read: the last drop of one may be that of its task.
    let tell = |waiting: &[Weak<Arrival>]| {
        waiting.iter().filter_map(Weak::upgrade).for_each(|arrival| arrival.tell());
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

/// An error of wgpu as an error of this crate. NOTE: ours can be sent to other threads. In the browser those of wgpu cannot, so
/// there only the text is kept.
pub(super) fn told(error: wgpu::Error) -> Error {
    #[cfg(target_arch = "wasm32")]
    let error = error.to_string();
    Error::device(error)
}

/// Runs `work`, and returns an error of `device` that it causes. In the browser, where errors come after the call, the device's
/// own handler gets them instead.
pub(crate) fn caught<R>(device: &wgpu::Device, work: impl FnOnce() -> R) -> Result<R, wgpu::Error> {
    match caught_beside(device, work) {
        (result, None) => Ok(result),
        (_, Some(error)) => Err(error),
    }
}

/// As [`caught`], but returns the result even if there is an error.
pub(crate) fn caught_beside<R>(device: &wgpu::Device, work: impl FnOnce() -> R) -> (R, Option<wgpu::Error>) {
    #[cfg(not(target_arch = "wasm32"))]
    {
        use futures::FutureExt;
        use wgpu::ErrorFilter as Filter;
        let internal = device.push_error_scope(Filter::Internal);
        let memory = device.push_error_scope(Filter::OutOfMemory);
        let validation = device.push_error_scope(Filter::Validation);
        let result = work();
        // NOTE: all three are popped before any is looked at; an `or_else` would leave two behind.
        let errors =
            [validation.pop().now_or_never(), memory.pop().now_or_never(), internal.pop().now_or_never()];
        (result, errors.into_iter().flatten().flatten().next())
    }
    #[cfg(target_arch = "wasm32")]
    {
        let _ = device;
        (work(), None)
    }
}
