//! Uploads: they wait in host memory for the next submission, and then for the device. There is a bound for both.

use super::fault::caught;
use super::recording::Outcome;
use super::{Allocation, Gpu};
use crate::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// After this many uploaded bytes, which wait in host memory for the next submission, there is one.
const STAGED_AT_MOST: u64 = 64 << 20;

/// Counts uploaded bytes. NOTE: wgpu keeps them in host memory until the submission that copies them has ended.
#[derive(Default)]
pub(super) struct Uploads {
    /// Bytes since the last recording was closed.
    staged: u64,
    /// Bytes in the recordings that were closed since `newer` was.
    closed: u64,
    /// A recording with [`STAGED_AT_MOST`] bytes in it or since the one before: the last such.
    newer: Option<Arc<Outcome>>,
    /// The one before that. The next upload waits until it has ended.
    older: Option<Arc<Outcome>>,
}

impl Uploads {
    /// How many bytes were uploaded since the last recording was closed.
    pub(super) fn staged(&self) -> u64 {
        self.staged
    }

    /// Notes that the recording with this outcome is closed.
    pub(super) fn close(&mut self, outcome: &Arc<Outcome>) {
        self.closed += std::mem::take(&mut self.staged);
        if self.closed >= STAGED_AT_MOST {
            self.closed = 0;
            self.older = self.newer.replace(outcome.clone());
        }
    }
}

impl Gpu {
    /// Writes whole words into a storage, ahead of the next submission. Past a limit of bytes that wait, that is now.
    pub(super) fn stage(&self, allocation: &Allocation, offset: u64, bytes: &[u8]) -> Result<()> {
        #[cfg(not(target_arch = "wasm32"))]
        self.wait_for_older_uploads()?;
        // NOTE: wgpu panics where a device that fails cannot begin a command buffer for the copy.
        let written = catch_unwind(AssertUnwindSafe(|| {
            caught(&self.inner.device, || {
                self.inner.queue.write_buffer(allocation.buffer(), offset, bytes);
            })
        }));
        written
            .map_err(|_| Error::device("the device failed while an upload was prepared"))?
            .map_err(|error| self.cause_of(error))?;
        let mut state = self.inner.recorder.lock();
        state.uploads.staged += bytes.len() as u64;
        if state.uploads.staged < STAGED_AT_MOST {
            return Ok(());
        }
        let number = state.close(None);
        drop(state);
        self.hand_over(number)
    }

    /// Waits until the device has done with earlier uploads, if it has as much again to do behind them. What is not
    /// known to be submitted is not waited for, nor anything by a callback that runs while its own thread encodes
    /// commands.
    #[cfg(not(target_arch = "wasm32"))]
    fn wait_for_older_uploads(&self) -> Result<()> {
        let state = self.inner.recorder.lock();
        let older =
            if state.is_encoded_by(std::thread::current().id()) { None } else { state.uploads.older.clone() };
        drop(state);
        let Some(older) = older else { return Ok(()) };
        match older.get() {
            None => return Ok(()),
            Some(Ok(index)) => self.wait_for(index)?,
            Some(Err(_)) => {}
        }
        self.inner.recorder.lock().uploads.older.take_if(|known| Arc::ptr_eq(known, &older));
        Ok(())
    }
}
