//! A tensor as kernels see it: a buffer, a layout, and the element type as a value.

use super::binding::Binding;
use crate::gpu::buffers::part::Part;
use crate::gpu::buffers::pooled_buffer::PooledBuffer;
use crate::gpu::buffers::storage::Storage;
use crate::gpu::handle::gpu::{Allocation, Gpu};
use crate::gpu::record::replay_input::ReplayInput;
use crate::layout::{DType, Layout, window};
use crate::{Error, Result};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A borrowed tensor without its static element type, as plans take it. [`Tensor::view`](crate::Tensor::view) gives one
/// for an operand that a plan reads, [`Tensor::view_mut`](crate::Tensor::view_mut) for one that it writes.
#[derive(Clone, Copy)]
pub struct View<'a> {
    allocation: &'a Allocation,
    pub(crate) layout: Layout,
    pub(crate) dtype: DType,
    /// For an operation that writes every element and reads none: the sequence at which it begins.
    overwritten_from: Option<u64>,
    /// The part of the buffer that an operation uses, if it does not use every element.
    used: Option<&'a Part>,
    ownership: Ownership,
}

/// Whether other tensors may share the buffer of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ownership {
    /// Other tensors may share it.
    Shared,
    /// The buffer is uniquely owned, so it may be written.
    Exclusive,
}

impl<'a> View<'a> {
    /// A view with this layout of a buffer that other tensors may share.
    pub(crate) fn new(allocation: &'a Allocation, layout: Layout, dtype: DType) -> Self {
        Self { allocation, layout, dtype, overwritten_from: None, used: None, ownership: Ownership::Shared }
    }

    /// Marks the buffer as uniquely owned.
    pub(crate) fn exclusive(self) -> Self {
        Self { ownership: Ownership::Exclusive, ..self }
    }

    /// A view of these bytes of a buffer that belongs to no tensor, as whole words.
    pub(crate) fn of_words(allocation: &'a Allocation, bytes: Range<usize>) -> Result<Self> {
        let layout = Layout::contiguous("words", &[bytes.len() / 4])?.at(&[1], bytes.start / 4);
        let dtype = DType::I32;
        Ok(Self::new(allocation, layout, dtype))
    }

    pub(crate) fn gpu(&self) -> &'a Gpu {
        self.allocation.gpu()
    }

    /// As an input of a replay.
    pub(in crate::gpu) fn as_input(&self) -> ReplayInput {
        ReplayInput::new(&self.allocation.pooled, self.layout, self.dtype)
    }

    /// The buffer, which does not return to its pool while it is held.
    pub(in crate::gpu) fn pooled(&self) -> &'a Arc<PooledBuffer> {
        &self.allocation.pooled
    }

    pub(in crate::gpu) fn storage(&self) -> &'a Arc<Storage> {
        self.allocation.storage()
    }

    pub(crate) fn shares_buffer(&self, other: &View<'_>) -> bool {
        std::ptr::eq(self.allocation, other.allocation)
    }

    /// Marks the view as an output of an operation that began at this sequence, writes every element of it and reads none.
    pub(crate) fn overwritten_from(self, begun: u64) -> Self {
        Self { overwritten_from: Some(begun), ..self }
    }

    /// Declares that an operation uses only this part of the elements; the contents of the others do not matter.
    pub(crate) fn using(self, part: &'a Part) -> Self {
        Self { used: Some(part), ..self }
    }

    /// The same buffer with another layout. The caller has proved that the layout is within the elements of this view.
    pub(crate) fn with_layout(self, layout: Layout) -> Self {
        Self { layout, ..self }
    }

    /// Whether the buffer is uniquely owned.
    pub(crate) fn is_exclusive(&self) -> bool {
        self.ownership == Ownership::Exclusive
    }

    /// Begins an operation that writes every element of this view and reads none. Earlier failures to write them no longer
    /// matter.
    pub(in crate::gpu) fn overwritten(self) -> Self {
        self.overwritten_from(self.allocation.begin_write())
    }

    /// The elements, as a part of the buffer.
    pub(in crate::gpu) fn part(&self) -> Part {
        self.used.cloned().unwrap_or_else(|| Part::of(&self.layout, self.dtype))
    }

    /// Marks the elements as never computed because of `error`, if a launch that was recorded after `begun` writes to the
    /// buffer.
    pub(crate) fn fail_if_written_since(&self, begun: u64, error: &Error) {
        if self.allocation.is_written_since(begun) {
            self.allocation.fail(&self.part(), error);
        }
    }

    /// The window of the buffer that contains the elements, for a kernel to bind.
    pub(crate) fn bind(&self) -> Binding<'a> {
        let bytes = self.layout.bytes(self.dtype);
        let elements = match (self.overwritten_from, self.used) {
            (Some(_), _) => Part::exactly(&self.layout, self.dtype),
            (None, Some(used)) => used.clone(),
            (None, None) => Part::within(bytes.clone(), &self.layout, self.dtype),
        };
        Binding::new(self.allocation, window(bytes), elements, self.overwritten_from)
    }
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.dtype, self.layout)
    }
}
