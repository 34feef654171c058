//! What a call says that fails.

use tilewise::{Error, Result};

/// The kinds of [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Shape,
    Unsupported,
    Limit,
    OutOfMemory,
    Gpu,
    Input,
    Cancelled,
    Device,
}

impl Kind {
    /// None for a kind that the tests do not know.
    pub fn of(error: &Error) -> Option<Self> {
        Some(match error {
            Error::Shape { .. } => Self::Shape,
            Error::Unsupported { .. } => Self::Unsupported,
            Error::Limit { .. } => Self::Limit,
            Error::OutOfMemory { .. } => Self::OutOfMemory,
            Error::Gpu { .. } => Self::Gpu,
            Error::Input { .. } => Self::Input,
            Error::Cancelled { .. } => Self::Cancelled,
            Error::Device(_) => Self::Device,
            _ => return None,
        })
    }
}

/// Asserts that a call fails, and that its error contains each of these words. With `^` before it, a word begins the message.
#[track_caller]
pub fn says<R>(result: Result<R>, words: &[&str]) -> Error {
    let Err(error) = result else { panic!("it went through, where an error should say {words:?}") };
    let said = error.to_string();
    for word in words {
        let is_said = word.strip_prefix('^').map_or(said.contains(word), |start| said.starts_with(start));
        assert!(is_said, "no {word:?} in: {said}");
    }
    error
}

/// As [`says`], and that the error is of this kind.
#[track_caller]
pub fn fails<R>(result: Result<R>, kind: Kind, words: &[&str]) {
    let error = says(result, words);
    assert_eq!(Kind::of(&error), Some(kind), "{error}");
}
