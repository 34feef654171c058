//! Atomic writes of files, and files that only this user may access.

pub(crate) mod private;
pub(crate) mod replace;
