//! Doors to what is private, for `tests/fuzz`. No part of the API: they change without notice.

use crate::gpu::{kept, verdicts};
use crate::kernel;
use crate::{Layout, Result};
use std::ops::Range;

/// The device, driver and version that the files below are made for.
const MADE_FOR: &str = "a device of the fuzzer's";

/// A file of the kernel cache.
#[must_use]
pub fn seal_cache(data: &[u8]) -> Vec<u8> {
    kept::seal(MADE_FOR, data)
}

/// What such a file holds, if it is whole.
#[must_use]
pub fn unseal_cache(file: &[u8]) -> Option<&[u8]> {
    kept::unseal(MADE_FOR, file)
}

/// A file of verdicts.
#[must_use]
pub fn seal_verdicts(header: &str, lines: &[String]) -> String {
    verdicts::seal(header, lines)
}

/// The lines of such a file.
///
/// # Errors
/// Why it is not to be relied on.
pub fn unseal_verdicts(text: &str, header: &str) -> std::result::Result<Vec<String>, String> {
    verdicts::unseal(text.as_bytes().to_vec(), header)
}

/// A shader's text with its marked loops written out.
///
/// # Errors
/// Why it cannot be.
pub fn unroll(text: &str) -> std::result::Result<String, String> {
    kernel::unroll(text)
}

/// The last two axes exchanged.
#[must_use]
pub fn turned(layout: &Layout) -> Layout {
    layout.t()
}

/// The axes in another order.
///
/// # Errors
/// As [`Tensor::permute`](crate::Tensor::permute).
pub fn permuted(layout: &Layout, axes: &[usize]) -> Result<Layout> {
    layout.permute(axes)
}

/// Only the indices in `range` of one axis.
///
/// # Errors
/// As [`Tensor::slice`](crate::Tensor::slice).
pub fn sliced(layout: &Layout, axis: usize, range: Range<usize>) -> Result<Layout> {
    layout.slice(axis, range)
}

/// Another shape for the same elements.
///
/// # Errors
/// As [`Tensor::reshape`](crate::Tensor::reshape).
pub fn reshaped(layout: &Layout, shape: &[usize]) -> Result<Layout> {
    layout.reshape(shape)
}
