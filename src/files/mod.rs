//! Files: there whole or not at all; and those that are kept for one user alone.

pub(crate) mod private;
pub(crate) mod replace;
