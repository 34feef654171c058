//! What can go wrong.

use bench::file::FileError;
use std::io;

/// The result of this program's functions.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, for the person who called.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The library failed.
    #[error(transparent)]
    Library(#[from] tilewise::Error),
    /// There is nothing to measure on.
    #[error("no adapter: Tilewise finds no device ({0})")]
    NoAdapter(tilewise::Error),
    /// The peer cannot run on the library's adapter.
    #[error("CubeK cannot be compared on {device}: {why}")]
    Adapter {
        /// The adapter that the library opened.
        device: String,
        /// Why the peer cannot open it.
        why: String,
    },
    /// A side failed.
    #[error("{side}: {why}")]
    Side {
        /// Which.
        side: String,
        /// What it said.
        why: String,
    },
    /// A file could not be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// A process could not be started or watched.
    #[error("cannot start {program}: {source}")]
    Process {
        /// The program.
        program: String,
        /// Why it failed.
        source: io::Error,
    },
    /// Some cases failed; the others were measured.
    #[error("these cases failed: {0}")]
    Cases(String),
    /// Some lines could not be read; the tables were printed without them.
    #[error("lines that are no results:\n{0}")]
    Malformed(String),
}

impl Error {
    /// A failure of a side, as it describes it.
    pub(crate) fn side(side: &str, why: impl std::fmt::Debug) -> Self {
        Self::Side { side: side.into(), why: format!("{why:?}").trim_end().into() }
    }
}
