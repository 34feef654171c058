//! Files that are read and written in chunks. The progress is reported between chunks.

use crate::progress::Steps;
use crate::{Error, Result};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Bytes between two reports.
const CHUNK: usize = 16 << 20;

/// A file that reports the bytes that were read.
pub(crate) struct ReportedFile {
    file: File,
    /// Length of the file in bytes; 0 for a pipe.
    pub(crate) length: u64,
    name: String,
    steps: Steps,
    read: usize,
    /// Bytes that are read before the next report.
    left: usize,
    cancelled: Option<Error>,
}

impl ReportedFile {
    /// Opens the file at `path`, which the function `call` reads.
    ///
    /// # Errors
    /// [`Error::Input`] if it cannot be opened.
    pub(crate) fn open(call: &'static str, path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
        let (length, file) =
            opened.map_err(|e| Error::input(name.clone(), format!("cannot be opened: {e}")))?;
        let steps = Steps::aside(call, usize::try_from(length).unwrap_or(usize::MAX));
        Ok(Self { file, length, name, steps, read: 0, left: 0, cancelled: None })
    }

    /// The error of a read: its cancellation, or else this reason.
    pub(crate) fn error(&mut self, why: impl Into<String>) -> Error {
        self.cancelled.take().unwrap_or_else(|| Error::input(self.name.clone(), why))
    }

    /// Reports the end.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub(crate) fn end(&self) -> Result<()> {
        self.steps.end()
    }
}

impl Read for ReportedFile {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            if let Err(cancelled) = self.steps.at(self.read, &self.name) {
                self.cancelled = Some(cancelled);
                return Err(io::Error::other("cancelled"));
            }
            self.left = CHUNK;
        }
        let room = bytes.len().min(self.left);
        let read = self.file.read(&mut bytes[..room])?;
        self.read += read;
        self.left -= read;
        Ok(read)
    }
}

impl Seek for ReportedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Writes these parts to a file called `name` and reports the bytes, for the function `call`. The caller replaces a file
/// only after the last report.
///
/// # Errors
/// The errors of the file. A cancellation is the source of the error: see [`write_error`].
pub(crate) fn write_reported<'a>(
    (call, name): (&'static str, &str),
    parts: impl Iterator<Item = &'a [u8]> + Clone,
    file: &mut dyn Write,
) -> io::Result<()> {
    let steps = Steps::aside(call, parts.clone().map(<[u8]>::len).sum());
    let mut written = 0;
    for chunk in parts.flat_map(|part| part.chunks(CHUNK)) {
        steps.at(written, name).map_err(io::Error::other)?;
        file.write_all(chunk)?;
        written += chunk.len();
    }
    steps.end().map_err(io::Error::other)
}

/// The error of writing the file called `name`: its cancellation, or the reason why it cannot be written.
pub(crate) fn write_error(name: impl Into<String>, error: io::Error) -> Error {
    error.downcast::<Error>().unwrap_or_else(|e| Error::input(name, format!("cannot be written: {e}")))
}
