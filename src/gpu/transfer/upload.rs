//! Uploads: queue writes, which run before the next submission.

use crate::gpu::buffers::storage::Storage;
use crate::gpu::driver::error_scope::in_error_scope;
use crate::gpu::handle::gpu::Gpu;
use crate::gpu::record::upload_count::MAX_STAGED_BYTES;
use crate::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
#[cfg(not(target_arch = "wasm32"))]
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Gpu {
    /// Writes whole words into a storage. The write runs before the next submission. If too many bytes wait for a
    /// submission, this submits now.
    pub(in crate::gpu) fn stage(&self, storage: &Storage, offset: u64, bytes: &[u8]) -> Result<()> {
        self.check_room_in_scope(bytes.len() as u64)?;
        #[cfg(not(target_arch = "wasm32"))]
        self.wait_for_older_uploads()?;
        // NOTE: wgpu panics if the device fails and cannot begin a command buffer for the copy.
        let written = catch_unwind(AssertUnwindSafe(|| {
            in_error_scope(&self.inner.device, || {
                self.inner.queue.write_buffer(&storage.buffer, offset, bytes);
            })
        }));
        written
            .map_err(|_| Error::device("the device failed while an upload was prepared"))?
            .map_err(|error| self.cause_of(error))?;
        let left = self.inner.spares.bytes_left.swap(0, Ordering::Relaxed);
        let mut state = self.inner.recorder.lock();
        state.uploads.staged += left + bytes.len() as u64;
        if state.uploads.staged < MAX_STAGED_BYTES || state.scope().is_some() {
            return Ok(());
        }
        let number = state.close(None);
        drop(state);
        self.submit_up_to(number)
    }

    /// Fails in the closure of `record_into` if these bytes would have to be submitted now.
    fn check_room_in_scope(&self, bytes: u64) -> Result<()> {
        let left = self.inner.spares.bytes_left.load(Ordering::Relaxed);
        let mut state = self.inner.recorder.lock();
        if state.scope().is_none() || state.uploads.staged() + left + bytes < MAX_STAGED_BYTES {
            return Ok(());
        }
        let why = "uploads of 64 MiB or more would be submitted now, which the closure of `record_into` or \
                   `capture` cannot: call `flush` before, so that those from earlier no longer count";
        Err(Error::input("upload", why))
    }

    /// Waits for the device to complete earlier uploads, if as many bytes again are queued after them. This bounds the
    /// host memory of uploads. It does not wait for a recording that is not known to be submitted, and it does not wait
    /// at all in a callback that runs while its own thread encodes commands, or in the closure of `record_into`.
    #[cfg(not(target_arch = "wasm32"))]
    fn wait_for_older_uploads(&self) -> Result<()> {
        let mut state = self.inner.recorder.lock();
        let may_wait = state.may_wait();
        let older = state.uploads.older.clone().filter(|_| may_wait);
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
