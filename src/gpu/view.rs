//! A tensor as kernels see it: where its elements lie, their type as a value.

use super::binding::Binding;
use super::handle::Gpu;
use super::memory::Allocation;
use crate::layout::{DType, Layout};
use crate::{Error, Result};
use std::fmt;
use std::ops::Range;

/// A borrowed tensor as plans take it, without its element type: [`Tensor::view`](crate::Tensor::view) of what they read, [`Tensor::view_mut`](crate::Tensor::view_mut) of
/// what they write.
#[derive(Clone, Copy)]
pub struct View<'a> {
    allocation: &'a Allocation,
    pub(crate) layout: Layout,
    pub(crate) dtype: DType,
    /// Where the operation writes every element of the storage and reads none of it: the sequence at which it begins.
    overwritten_from: Option<u64>,
    holder: Holder,
}

/// Who else may see the buffer of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    /// Anybody.
    Shared,
    /// Nobody: it may be written.
    Exclusive,
}

impl<'a> View<'a> {
    /// A view of this layout of a buffer, which others may see too.
    pub(crate) fn new(allocation: &'a Allocation, layout: Layout, dtype: DType) -> Self {
        Self { allocation, layout, dtype, overwritten_from: None, holder: Holder::Shared }
    }

    /// The same view, of a buffer that nobody else sees.
    pub(crate) fn exclusive(self) -> Self {
        Self { holder: Holder::Exclusive, ..self }
    }

    /// These bytes of a buffer that is no tensor's, as whole words.
    pub(crate) fn of_words(allocation: &'a Allocation, bytes: Range<usize>) -> Result<Self> {
        let layout = Layout::contiguous("words", &[bytes.len() / 4])?.at(&[1], bytes.start / 4);
        let dtype = DType::I32;
        Ok(Self::new(allocation, layout, dtype))
    }

    pub(crate) fn gpu(&self) -> &'a Gpu {
        self.allocation.gpu()
    }

    pub(crate) fn shares_buffer(&self, other: &View<'_>) -> bool {
        std::ptr::eq(self.allocation, other.allocation)
    }

    /// The same view, as an output of which an operation writes every element and reads none, if that is so, and where that
    /// operation begins.
    pub(crate) fn overwritten_from(self, begun: Option<u64>) -> Self {
        Self { overwritten_from: begun, ..self }
    }

    /// The same buffer, of which this layout has been proved to lie within the elements of this view.
    pub(crate) fn seen_as(self, layout: Layout) -> Self {
        Self { layout, ..self }
    }

    /// Whether nobody else sees the buffer.
    pub(crate) fn is_exclusive(&self) -> bool {
        self.holder == Holder::Exclusive
    }

    /// The same view, as an output of which an operation writes every element and reads none; that begins now. What of it
    /// has failed to be written before no longer matters if it is all of its storage.
    pub(crate) fn overwritten_if_whole(&self) -> Self {
        let is_whole =
            self.layout.is_contiguous() && self.layout.bytes(self.dtype) == (0..self.allocation.len());
        Self { overwritten_from: is_whole.then(|| self.allocation.begin_write()), ..*self }
    }

    /// Marks the contents as never computed because of `error`, if a launch that was recorded since then writes to them.
    pub(crate) fn fail_if_written_since(&self, begun: u64, error: &Error) {
        if self.allocation.is_written_since(begun) {
            self.allocation.fail(error);
        }
    }

    /// What a kernel binds: the window that holds the elements.
    pub(crate) fn bind(&self) -> Binding<'a> {
        let binding = Binding::new(self.allocation, self.layout.bytes(self.dtype));
        match self.overwritten_from {
            Some(begun) => binding.overwritten_from(begun),
            None => binding,
        }
    }
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.dtype, self.layout)
    }
}
