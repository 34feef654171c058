//! Files that are written as a whole or not at all, and files that only this user may access.

pub(crate) mod private;
pub(crate) mod replace;
