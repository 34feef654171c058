//! Windows: the aligned part of a buffer that a kernel binds. Also the 32-bit sizes of shaders.

use super::element::DType;
use super::strided::{Layout, MAX_RANK};
use crate::{Error, Result};
use std::ops::Range;

/// Alignment of every window in bytes. No device requires more.
pub(crate) const WINDOW_ALIGNMENT: u64 = ALIGNED_BYTES as u64;
/// The same as a number of bytes of the host.
pub(crate) const ALIGNED_BYTES: usize = 256;

/// The window of a buffer that contains these bytes. It is aligned for a binding, and has whole units of 16 bytes,
/// because a kernel may read whole units and mask the bytes that do not belong to the operand. It ends within the buffer:
/// the size of a buffer from the pool is a multiple of 256, and `Gpu::storage_in` checks an application's buffer. An end
/// that exceeds 64 bits becomes the largest number, which no buffer has.
pub(crate) fn window(bytes: Range<u64>) -> Range<u64> {
    let start = bytes.start / WINDOW_ALIGNMENT * WINDOW_ALIGNMENT;
    start..bytes.end.max(start + 1).checked_next_multiple_of(16).unwrap_or(u64::MAX)
}

/// Converts a size in elements to the u32 that shaders use. NOTE: it must be below 2^31, so that an index one block
/// past the end does not wrap around. Otherwise a loop over a repeated axis might never end (such an axis takes no
/// memory, so it may be that long).
#[inline]
pub(crate) fn dim(op: &'static str, size: usize) -> Result<u32> {
    const ALLOWED: u32 = u32::MAX / 2;
    let limit = || {
        let what = "an extent or stride in elements".to_owned();
        Error::Limit { op, what, needed: size as u64, allowed: u64::from(ALLOWED) }
    };
    u32::try_from(size).ok().filter(|&size| size <= ALLOWED).ok_or_else(limit)
}

/// A size that has been checked to be below $2^{31}$, as shaders use it.
pub(crate) fn known(size: usize) -> u32 {
    u32::try_from(size).unwrap_or_else(|_| unreachable!("{size} was checked"))
}

impl Layout {
    /// Checks that shaders can count the elements and step along every axis.
    ///
    /// # Errors
    /// [`Error::Limit`] if the number of elements, an extent or a stride is $2^{31}$ or more.
    pub(crate) fn check_dims(&self, op: &'static str) -> Result<()> {
        dim(op, self.len())?;
        self.shape().iter().try_for_each(|&extent| dim(op, extent).map(drop))?;
        self.check_steps(op)
    }

    /// Checks that shaders can step along every axis.
    ///
    /// # Errors
    /// [`Error::Limit`] if a stride is $2^{31}$ or more.
    pub(crate) fn check_steps(&self, op: &'static str) -> Result<()> {
        (0..self.rank()).try_for_each(|axis| dim(op, self.step(axis)).map(drop))
    }

    /// The range of bytes that the elements span in the buffer.
    pub(crate) fn bytes(&self, dtype: DType) -> Range<u64> {
        let span = self.span();
        if span.is_empty() {
            return 0..0;
        }
        let size = dtype.size() as u64;
        span.start as u64 * size..span.end as u64 * size
    }

    /// Index of the first element in the window that a kernel binds.
    pub(crate) fn offset_in_window(&self, dtype: DType) -> u32 {
        let elements = WINDOW_ALIGNMENT / dtype.size() as u64;
        u32::try_from(self.offset() as u64 % elements).unwrap_or(0)
    }

    /// The same layout, relative to its aligned window, with stride 0 for axes of one index. Two operands with equal
    /// results take the same plan.
    pub(crate) fn in_window(&self, dtype: DType) -> Self {
        let strides: [usize; MAX_RANK] = std::array::from_fn(|axis| self.step(axis));
        self.at(&strides, self.offset_in_window(dtype) as usize)
    }
}
