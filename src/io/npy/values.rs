//! The values of a `.npy` file on the host, in f64.

use super::parse::{self, Opened};
use crate::{Error, Result};
use std::path::Path;

/// Reads a `.npy` file of f64, f32 or f16 as a shape and its values in C order. This is for work on the host, because
/// tensors have no f64.
///
/// # Errors
/// As for [`Npy::read`](super::Npy::read), except that f64 is accepted and integers are not.
pub fn read_npy_f64(path: impl AsRef<Path>) -> Result<(Vec<usize>, Vec<f64>)> {
    let path = path.as_ref();
    let read = Opened::at(path).and_then(parse::read_f64);
    read.map_err(|why| Error::input(path.display().to_string(), why))
}
