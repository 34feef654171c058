//! A tensor as kernels see it: where its elements lie, their type as a value.

use super::{DType, Element, Layout, Tensor};
use crate::Result;
use crate::gpu::{Allocation, Binding, Gpu};
use std::fmt;
use std::ops::Range;

/// A borrowed tensor without its element type. It may be narrowed, as a tensor may be sliced.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    allocation: &'a Allocation,
    pub(crate) layout: Layout,
    pub(crate) dtype: DType,
    /// Whether the operation writes every element of the storage and reads none of it.
    pub(super) overwritten: bool,
}

impl<'a> View<'a> {
    pub(crate) fn gpu(&self) -> &'a Gpu {
        self.allocation.gpu()
    }

    pub(crate) fn shares_buffer(&self, other: &View<'_>) -> bool {
        std::ptr::eq(self.allocation, other.allocation)
    }

    /// The same view; `overwritten` says whether the operation writes every element of the storage and reads none of it.
    pub(super) fn overwritten(self, overwritten: bool) -> Self {
        Self { overwritten, ..self }
    }

    /// Only the indices in `range` of one axis.
    pub(crate) fn slice(self, axis: usize, range: Range<usize>) -> Result<Self> {
        Ok(Self { layout: self.layout.slice(axis, range)?, ..self })
    }

    /// What a kernel binds: the window that holds the elements.
    pub(crate) fn bind(&self) -> Binding<'a> {
        let binding = Binding::new(self.allocation, self.layout.bytes(self.dtype));
        if self.overwritten { binding.overwritten() } else { binding }
    }
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.dtype, self.layout)
    }
}

impl<T: Element> Tensor<T> {
    pub(crate) fn as_view(&self) -> View<'_> {
        View { allocation: &self.storage, layout: self.layout, dtype: T::DTYPE, overwritten: false }
    }
}

impl Layout {
    /// The bytes of the buffer that the elements span.
    pub(super) fn bytes(&self, dtype: DType) -> Range<u64> {
        if self.is_empty() {
            return 0..0;
        }
        let size = dtype.size() as u64;
        self.span().start as u64 * size..self.span().end as u64 * size
    }
}
