//! Uploads: written to a buffer ahead of the next submission.

use super::fault::caught;
use super::handle::Gpu;
use super::memory::Allocation;
use super::uploads::STAGED_AT_MOST;
use crate::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
#[cfg(not(target_arch = "wasm32"))]
use std::sync::Arc;

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
