//! Checks of calls in the closures of `record_into` and of `capture`, which cannot do everything, and of writes to positions
//! that the host counts.

use crate::gpu::buffers::cursor::IS_COUNTED;
use crate::gpu::buffers::storage::Storage;
use crate::gpu::handle::gpu::Gpu;
use crate::gpu::record::scope::Sink;
use crate::{Error, Result};

impl Gpu {
    /// Fails if the calling thread is in the closure of a `record_into` or of a `capture`.
    ///
    /// # Errors
    /// [`Error::Input`] if it is.
    pub(in crate::gpu) fn check_outside_scope(&self, call: &'static str, does: &str) -> Result<()> {
        let mut state = self.inner.recorder.lock();
        let why = match state.scope().map(|scope| &scope.sink) {
            None => return Ok(()),
            Some(Sink::Recording(_)) => format!(
                "it {does}, which the closure of `record_into` cannot: call it after the application has submitted the \
                 encoder"
            ),
            Some(Sink::Capture(_)) => format!(
                "it {does}, which the closure of `capture` cannot, because nothing has run: call it before or after"
            ),
        };
        Err(Error::input(call, why))
    }

    /// Whether the calling thread is in the closure of a `capture`.
    pub(crate) fn is_capturing(&self) -> bool {
        self.inner.recorder.lock().is_capturing()
    }

    /// Fails if the calling thread is in the closure of a `capture`, for an upload: it would happen once, not in every
    /// run.
    ///
    /// # Errors
    /// [`Error::Input`] if it is.
    pub(in crate::gpu) fn check_outside_capture(&self, call: &'static str) -> Result<()> {
        if !self.is_capturing() {
            return Ok(());
        }
        let why = "it uploads what the host has now, which a replay would not repeat: create the tensor before the \
                   capture, and pass what changes as an input";
        Err(Error::input(call, why))
    }

    /// Before a storage is written: if it is the word of a cursor, then only work that has claimed it may do so, because the
    /// host counts the positions too. Writes of a capture are checked at its end.
    ///
    /// # Errors
    /// [`Error::Input`] if it is such a word.
    pub(in crate::gpu) fn check_no_word(&self, op: &'static str, storage: &Storage) -> Result<()> {
        match storage.cursor.get() {
            Some(cursor) if !cursor.is_claimed() && !self.is_capturing() => {
                Err(Error::input(format!("{op}: the output"), IS_COUNTED))
            }
            _ => Ok(()),
        }
    }
}
