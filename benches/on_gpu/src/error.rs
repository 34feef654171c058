//! What can go wrong.

use bench::file::FileError;

/// The result of this program's functions.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, for the person who called.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The arguments or the environment cannot be used.
    #[error("{0}")]
    Usage(String),
    /// A file or folder could not be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// A program that was started failed, or could not be started.
    #[error("{program} {why}")]
    Program {
        /// The program.
        program: String,
        /// What happened.
        why: String,
    },
    /// A program was stopped, or not started, because its section's time was up.
    #[error("{program} was {what}: the section's time, {seconds} s, is up")]
    TimeIsUp {
        /// The program.
        program: String,
        /// `stopped` or `not started`.
        what: &'static str,
        /// The time of the section.
        seconds: u64,
    },
    /// Some sections failed; the page was written.
    #[error("these sections failed: {0}")]
    Sections(String),
    /// Some lines of results could not be read; the page was written without them.
    #[error("malformed rows:\n{0}")]
    Malformed(String),
    /// The page of a trial lacks rows.
    #[error("the page of the trial lacks these rows:\n{0}")]
    Trial(String),
}

impl Error {
    /// An error of a program.
    pub(crate) fn program(program: &str, why: impl Into<String>) -> Self {
        Self::Program { program: program.into(), why: why.into() }
    }
}
