//! Files that are kept across runs, as a text or as bytes.

pub(crate) mod cache_file;
pub(crate) mod sealed_text;
