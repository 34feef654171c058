//! What went wrong behind our back: uncaptured errors and the loss of the device.

use crate::{Error, Result};
use futures::FutureExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The errors that a device has reported outside of any scope of ours, kept until somebody asks.
#[derive(Default)]
pub(crate) struct Fault {
    raised: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    lost: Option<String>,
    error: Option<wgpu::Error>,
}

impl Fault {
    pub(crate) fn mark_lost(&self, why: impl Into<String>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.lost.get_or_insert(why.into());
        self.raised.store(true, Ordering::Release);
    }

    pub(crate) fn report(&self, error: wgpu::Error) {
        log::error!("uncaptured: {error}");
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.error.get_or_insert(error);
        self.raised.store(true, Ordering::Release);
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).lost.is_some()
    }

    /// The error that is waiting, if any. An uncaptured error is told once; a loss stays.
    pub(crate) fn check(&self) -> Result<()> {
        if !self.raised.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = &state.lost {
            return Err(Error::device(format!("the device is lost: {why}")));
        }
        self.raised.store(false, Ordering::Release);
        state.error.take().map_or(Ok(()), |error| Err(Error::device(error)))
    }
}

/// Runs `work` with every error of `device` caught. Where errors come late (the browser), they go to the
/// device's own handler instead.
pub(crate) fn caught<R>(device: &wgpu::Device, work: impl FnOnce() -> R) -> Result<R, wgpu::Error> {
    use wgpu::ErrorFilter as Filter;
    let internal = device.push_error_scope(Filter::Internal);
    let memory = device.push_error_scope(Filter::OutOfMemory);
    let validation = device.push_error_scope(Filter::Validation);
    let result = work();
    // NOTE: all three are popped before any is looked at; an `or_else` would leave two behind.
    let errors =
        [validation.pop().now_or_never(), memory.pop().now_or_never(), internal.pop().now_or_never()];
    errors.into_iter().flatten().flatten().next().map_or(Ok(result), Err)
}
