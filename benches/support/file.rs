//! Files: errors that name them, and replacing them whole.

use std::io;
use std::path::{Path, PathBuf};

/// A file or folder could not be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {path}: {source}")]
pub struct FileError {
    action: &'static str,
    path: String,
    source: io::Error,
}

impl FileError {
    /// Turns an error of `io` into one that says what was tried, and on which file.
    pub fn of(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.display().to_string();
        move |source| Self { action, path, source }
    }
}

/// The file next to this one whose name ends in this, too.
pub fn sibling(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(end);
    name.into()
}

/// Replaces a file whole: who reads it meanwhile, or after an interruption, finds the old one or the new one.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = sibling(path, "new");
    std::fs::write(&new, bytes)?;
    std::fs::rename(&new, path)
}
