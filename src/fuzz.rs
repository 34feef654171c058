//! Access to private functions for `tests/fuzz`. Not part of the API: may change without notice.

use crate::gpu::{kept, verdicts};
use crate::kernel;
use crate::{Layout, Result};
use std::ops::Range;

/// The device, driver and version in the digests of the files below.
const MADE_FOR: &str = "a device of the fuzzer's";

/// A file of the kernel cache with these contents.
#[must_use]
pub fn seal_cache(data: &[u8]) -> Vec<u8> {
    kept::seal(MADE_FOR, data)
}

/// The contents of such a file, if its digest is right.
#[must_use]
pub fn unseal_cache(file: &[u8]) -> Option<&[u8]> {
    kept::unseal(MADE_FOR, file)
}

/// A file of the self-tests' verdicts with these lines.
#[must_use]
pub fn seal_verdicts(header: &str, lines: &[String]) -> String {
    verdicts::seal(header, lines)
}

/// The lines of such a file.
///
/// # Errors
/// Why the file is not used.
pub fn unseal_verdicts(text: &str, header: &str) -> std::result::Result<Vec<String>, String> {
    verdicts::unseal(text.as_bytes().to_vec(), header)
}

/// A shader's text with its marked loops written out.
///
/// # Errors
/// Why a loop cannot be written out.
pub fn unroll(text: &str) -> std::result::Result<String, String> {
    kernel::unroll(text).map_err(|fault| fault.why)
}

/// The layout with its last two axes exchanged.
#[must_use]
pub fn turned(layout: &Layout) -> Layout {
    layout.t()
}

/// The layout with its axes in another order.
///
/// # Errors
/// As [`Tensor::permute`](crate::Tensor::permute).
pub fn permuted(layout: &Layout, axes: &[usize]) -> Result<Layout> {
    layout.permute(axes)
}

/// The layout of the indices in `range` of one axis.
///
/// # Errors
/// As [`Tensor::slice`](crate::Tensor::slice).
pub fn sliced(layout: &Layout, axis: usize, range: Range<usize>) -> Result<Layout> {
    layout.slice(axis, range)
}

/// The layout of the same elements in another shape.
///
/// # Errors
/// As [`Tensor::reshape`](crate::Tensor::reshape).
pub fn reshaped(layout: &Layout, shape: &[usize]) -> Result<Layout> {
    layout.reshape(shape)
}
