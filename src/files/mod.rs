//! Atomic writes of files, files that only this user may access, and files that report their progress.

pub(crate) mod private;
pub(crate) mod replace;
#[cfg(any(feature = "npy", feature = "safetensors"))]
pub(crate) mod reported;
